-- Outside a transaction: indexes of tables that may be large, built while others write. What a start that was killed left is built anew.
-- Each list, by each of its filters, reads in the order in which it is shown, from any row on (src/records/page.ts).
DROP INDEX IF EXISTS customers_listed_by_email;
CREATE INDEX CONCURRENTLY customers_listed_by_email ON customers (organisation_id, mode, lower(email), id);
DROP INDEX IF EXISTS products_by_status;
CREATE INDEX CONCURRENTLY products_by_status ON products (organisation_id, mode, status, id);
DROP INDEX IF EXISTS annotations_by_type;
CREATE INDEX CONCURRENTLY annotations_by_type ON annotations (organisation_id, mode, kind, object_type, id);
DROP INDEX IF EXISTS checkouts_by_status;
CREATE INDEX CONCURRENTLY checkouts_by_status ON checkouts (organisation_id, mode, status, id);
DROP INDEX IF EXISTS payments_by_status;
CREATE INDEX CONCURRENTLY payments_by_status ON payments (organisation_id, mode, status, created_at, id);
DROP INDEX IF EXISTS payments_of_external;
CREATE INDEX CONCURRENTLY payments_of_external ON payments (organisation_id, mode, external_customer_id, created_at, id)
  WHERE external_customer_id IS NOT NULL;
DROP INDEX IF EXISTS refunds_listed;
CREATE INDEX CONCURRENTLY refunds_listed ON refunds (slot, payment_id, created_at, id);
DROP INDEX IF EXISTS subscriptions_by_status;
CREATE INDEX CONCURRENTLY subscriptions_by_status ON subscriptions (organisation_id, mode, status, created_at, id);
DROP INDEX IF EXISTS subscriptions_of_product;
CREATE INDEX CONCURRENTLY subscriptions_of_product ON subscriptions (product_id, created_at, id);
DROP INDEX IF EXISTS invoices_listed_of_customer;
CREATE INDEX CONCURRENTLY invoices_listed_of_customer ON invoices (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
DROP INDEX IF EXISTS invoices_listed_of_subscription;
CREATE INDEX CONCURRENTLY invoices_listed_of_subscription ON invoices (subscription_id, created_at, id)
  WHERE subscription_id IS NOT NULL;
DROP INDEX IF EXISTS invoices_by_status;
CREATE INDEX CONCURRENTLY invoices_by_status ON invoices (organisation_id, mode, status, created_at, id);
-- Usage is recorded where all is fast: an event of it costs no entry here.
DROP INDEX IF EXISTS events_by_type;
CREATE INDEX CONCURRENTLY events_by_type ON events (organisation_id, mode, type, at, id) WHERE type <> 'usage.recorded';
-- What waits for its endpoint, and what was given up: neither is written on the way of a delivery that arrives.
DROP INDEX IF EXISTS deliveries_not_sent;
CREATE INDEX CONCURRENTLY deliveries_not_sent ON deliveries (endpoint_id, status, id) WHERE status IN ('held', 'exhausted');
-- What these were for is served by those that came.
DROP INDEX IF EXISTS invoices_of_customer;
DROP INDEX IF EXISTS invoices_of_subscription;
