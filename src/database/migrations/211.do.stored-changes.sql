-- What the caches of all processes forget (src/platform/postgres/changes.ts). A NOTIFY in the transaction of the change made all commits that
-- notify wait for each other: it is a row now, which is told of after the commit and found without that.
CREATE TABLE changes (
  -- Which rows have become visible since a look follows from this, in whatever order their transactions ended.
  xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
  kind text NOT NULL,
  subject uuid NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (xact, kind, subject)
);
