-- Each list, by each of its filters, reads in the order in which it is shown, from any row on (src/records/page.ts).

CREATE INDEX customers_listed_by_email ON customers (organisation_id, mode, lower(email), id);
CREATE INDEX products_by_status ON products (organisation_id, mode, status, id);
CREATE INDEX annotations_by_type ON annotations (organisation_id, mode, kind, object_type, id);
CREATE INDEX checkouts_by_status ON checkouts (organisation_id, mode, status, id);

CREATE INDEX payments_by_status ON payments (organisation_id, mode, status, created_at, id);
CREATE INDEX payments_of_external ON payments (organisation_id, mode, external_customer_id, created_at, id)
  WHERE external_customer_id IS NOT NULL;
CREATE INDEX refunds_listed ON refunds (slot, payment_id, created_at, id);

CREATE INDEX subscriptions_by_status ON subscriptions (organisation_id, mode, status, created_at, id);
CREATE INDEX subscriptions_of_product ON subscriptions (product_id, created_at, id);

DROP INDEX invoices_of_customer, invoices_of_subscription;
CREATE INDEX invoices_of_customer ON invoices (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX invoices_of_subscription ON invoices (subscription_id, created_at, id) WHERE subscription_id IS NOT NULL;
CREATE INDEX invoices_by_status ON invoices (organisation_id, mode, status, created_at, id);

-- Usage is recorded where all is fast: an event of it costs no entry here.
CREATE INDEX events_by_type ON events (organisation_id, mode, type, at, id) WHERE type <> 'usage.recorded';
-- What waits for its endpoint, and what was given up: neither is written on the way of a delivery that arrives.
CREATE INDEX deliveries_not_sent ON deliveries (endpoint_id, status, id) WHERE status IN ('held', 'exhausted');
