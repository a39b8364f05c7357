ALTER TABLE invoices
  -- When what its change had taken was to be given back, as the change was taken back: it bought nothing. Null for all others.
  ADD COLUMN forgone_at timestamptz;

-- So far it was known by the refund, whose id follows from the payment: the first 16 bytes of a hash as a UUID of version 8.
UPDATE invoices i SET forgone_at = r.created_at
FROM refunds r CROSS JOIN LATERAL (
  SELECT encode(substring(sha256(convert_to('6:refund10:given back36:' || r.payment_id, 'UTF8')) FROM 1 FOR 16), 'hex') AS hex
) h
WHERE i.payment_id = r.payment_id AND i.billing_reason IN ('subscription_update', 'subscription_resume')
  AND r.id = overlay(overlay(h.hex PLACING '8' FROM 13 FOR 1)
    PLACING substr('89ab', (ascii(substr(h.hex, 17, 1)) & 3) + 1, 1) FROM 17 FOR 1)::uuid;
