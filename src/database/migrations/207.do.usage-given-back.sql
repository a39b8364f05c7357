-- What went back before of an invoice whose usage may still be corrected: its subscription is told as of what goes back from now on.
INSERT INTO followups (slot, id, kind, payment_id, data, at)
SELECT p.slot, gen_random_uuid(), 'usage_given_back', p.id, '{}', now()
FROM subscriptions s
CROSS JOIN LATERAL (
  SELECT DISTINCT (part ->> 'invoiceId')::uuid AS id
  FROM jsonb_array_elements(s.usage) u CROSS JOIN LATERAL jsonb_array_elements(u -> 'parts') part
) i
JOIN payments p ON p.invoice_id = i.id AND p.subscription_id = s.id AND p.checkout_id IS NULL
JOIN balances b ON b.slot = p.slot AND b.id = p.id
WHERE s.live AND b.debits_posted + b.debits_pending > 0;
