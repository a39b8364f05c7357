-- Lists are newest first by creation: an id may follow from an Idempotency-Key, and then says nothing of when.
DROP INDEX subscriptions_listed, subscriptions_of_customer;
CREATE INDEX subscriptions_listed ON subscriptions (organisation_id, mode, created_at, id);
CREATE INDEX subscriptions_of_customer ON subscriptions (customer_id, created_at, id);
