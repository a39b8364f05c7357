-- Invoices of subscriptions: drafts, periods, and tries to collect. An invoice is drafted, numbered when it is issued, and only then paid.
ALTER TABLE invoices ADD COLUMN attempts integer NOT NULL DEFAULT 0;

UPDATE invoices SET buyer = jsonb_build_object('address', NULL) || buyer,
  lines = (SELECT jsonb_agg(jsonb_build_object('period', NULL) || line) FROM jsonb_array_elements(lines) AS line);

ALTER TABLE invoices
  ADD CONSTRAINT invoices_reason_known CHECK (billing_reason IN ('purchase', 'subscription_create', 'subscription_cycle',
    'subscription_update', 'subscription_resume', 'manual')),
  ADD CONSTRAINT invoices_numbered_when_issued CHECK ((number IS NULL) = (issued_at IS NULL)
    AND CASE status WHEN 'draft' THEN number IS NULL WHEN 'void' THEN true ELSE number IS NOT NULL END),
  ADD CONSTRAINT invoices_paid_in_full CHECK (CASE status WHEN 'paid' THEN amount_paid = total AND paid_at IS NOT NULL
    ELSE amount_paid = 0 AND paid_at IS NULL END);

-- The dates of an organisation's invoices ascend with their numbers, whatever clock a caller had.
ALTER TABLE invoice_counters ADD COLUMN issued_at timestamptz NOT NULL DEFAULT '-infinity';
UPDATE invoice_counters c SET issued_at = i.issued_at
  FROM (SELECT organisation_id, mode, max(issued_at) AS issued_at FROM invoices GROUP BY organisation_id, mode) i
  WHERE (i.organisation_id, i.mode) = (c.organisation_id, c.mode) AND i.issued_at IS NOT NULL;
