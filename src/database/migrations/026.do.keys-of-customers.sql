-- The key of a usage has the scope of its customer, so its id is unique in its customer's slot, and so is what resolves a hold. The key of
-- a refund has the scope of the organisation still: transfers_refund_once spans the slots, and has refunds alone.
ALTER TABLE transfers DROP CONSTRAINT transfers_id_once;
ALTER TABLE transfers ADD CONSTRAINT transfers_id_once PRIMARY KEY USING INDEX transfers_id_of_slot;
DROP INDEX transfers_hold_once;
ALTER INDEX transfers_hold_of_slot RENAME TO transfers_hold_once;

-- Since when, where somebody was here before: what was recorded under keys of the organisation's scope is looked up for as long as it is
-- in `transfers`. A server of before may record its first one while this runs, and until another takes its place.
CREATE TABLE usage_keys (by_customer_since timestamptz NOT NULL);
INSERT INTO usage_keys SELECT now() WHERE EXISTS (SELECT FROM organisations);
