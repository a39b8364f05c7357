-- What was used in a period of the plans before the present one, beyond what that gives: it counts against the plan after it.
ALTER TABLE grants ADD COLUMN spent bigint NOT NULL DEFAULT 0 CONSTRAINT grants_spent_not_negative CHECK (spent >= 0);
ALTER TABLE grants ALTER COLUMN spent DROP DEFAULT;
