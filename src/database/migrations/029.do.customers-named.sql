-- Outside a transaction: what there is may be much, and is brought up to date while others write. What a start that was killed left is done
-- again.
-- Whose a payment is. Who comes without a key types any e-mail address: that makes a customer, and finds none.

-- From a buy link: nobody but the buyer has said that this address is the customer's.
ALTER TABLE customers ADD COLUMN IF NOT EXISTS self_named boolean NOT NULL DEFAULT false;
UPDATE customers c SET self_named = true
  WHERE external_customer_id IS NULL AND NOT self_named AND EXISTS (SELECT FROM payments p JOIN checkouts k ON k.id = p.checkout_id
    WHERE p.customer_id = c.id AND k.source = 'buy_link' AND p.created_at <= c.created_at);

-- A customer is found by its address where the merchant has vouched for it.
DROP INDEX IF EXISTS customers_by_email_named;
CREATE INDEX CONCURRENTLY customers_by_email_named ON customers (organisation_id, mode, lower(email)) WHERE NOT self_named;
DROP INDEX IF EXISTS customers_by_email;
ALTER INDEX customers_by_email_named RENAME TO customers_by_email;

-- Named by the merchant, or known since it was paid.
ALTER TABLE checkouts ADD COLUMN IF NOT EXISTS customer_id uuid REFERENCES customers;
UPDATE checkouts k SET customer_id = p.customer_id
  FROM payments p WHERE p.id = k.payment_id AND k.status = 'paid' AND k.customer_id IS NULL;

-- What a subscription was bought with is charged for that one; what was left in the portal, for all of the customer's.
ALTER TABLE payment_methods
  DROP CONSTRAINT IF EXISTS payment_methods_saved_once,
  ADD COLUMN IF NOT EXISTS subscription_id uuid,
  ADD CONSTRAINT payment_methods_saved_once UNIQUE NULLS NOT DISTINCT (customer_id, processor, saved, subscription_id);
UPDATE payment_methods m SET subscription_id = p.subscription_id
  FROM payments p WHERE m.processor = 'sandbox' AND m.saved = 'sandbox_method_' || p.id AND p.customer_id = m.customer_id
    AND m.subscription_id IS NULL AND p.subscription_id IS NOT NULL;
