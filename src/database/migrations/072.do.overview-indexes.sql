-- What the overview of a day reads: what was captured and refunded on it, and how many subscriptions are in which state.
CREATE INDEX payments_paid ON payments (organisation_id, mode, paid_at) INCLUDE (currency, amount) WHERE paid_at IS NOT NULL;
CREATE INDEX refunds_settled ON refunds (organisation_id, mode, settled_at) INCLUDE (currency, amount) WHERE status = 'succeeded';
CREATE INDEX subscriptions_counted ON subscriptions (organisation_id, mode, status, overdue, trial_end) WHERE status <> 'canceled';
