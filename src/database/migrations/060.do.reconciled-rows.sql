-- Outside a transaction: what reconciliation reads of payments and refunds that a connected account took. Those of the sandbox cost nothing.
DROP INDEX IF EXISTS payments_at_processors;
CREATE INDEX CONCURRENTLY payments_at_processors ON payments (organisation_id, mode, processor, paid_at, id)
  WHERE processor <> 'sandbox' AND paid_at IS NOT NULL;
DROP INDEX IF EXISTS refunds_at_processors;
CREATE INDEX CONCURRENTLY refunds_at_processors ON refunds (organisation_id, mode, settled_at, id)
  WHERE processor_reference NOT LIKE 'sandbox%' AND settled_at IS NOT NULL;
