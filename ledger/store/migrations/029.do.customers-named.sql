-- Whose a payment is. Who comes without a key types any e-mail address: that makes a customer, and finds none.

ALTER TABLE customers
  -- From a buy link: nobody but the buyer has said that this address is the customer's.
  ADD COLUMN self_named boolean NOT NULL DEFAULT false;
UPDATE customers c SET self_named = true
  WHERE external_customer_id IS NULL AND EXISTS (SELECT FROM payments p JOIN checkouts k ON k.id = p.checkout_id
    WHERE p.customer_id = c.id AND k.source = 'buy_link' AND p.created_at <= c.created_at);

-- A customer is found by its address where the merchant has vouched for it.
DROP INDEX customers_by_email;
CREATE INDEX customers_by_email ON customers (organisation_id, mode, lower(email)) WHERE NOT self_named;

ALTER TABLE checkouts
  -- Named by the merchant, or known since it was paid.
  ADD COLUMN customer_id uuid REFERENCES customers;
UPDATE checkouts k SET customer_id = p.customer_id
  FROM payments p WHERE p.id = k.payment_id AND k.status = 'paid';

-- What a subscription was bought with is charged for that one; what was left in the portal, for all of the customer's.
ALTER TABLE payment_methods
  DROP CONSTRAINT payment_methods_saved_once,
  ADD COLUMN subscription_id uuid,
  ADD CONSTRAINT payment_methods_saved_once UNIQUE NULLS NOT DISTINCT (customer_id, processor, saved, subscription_id);
UPDATE payment_methods m SET subscription_id = p.subscription_id
  FROM payments p WHERE m.processor = 'sandbox' AND m.saved = 'sandbox_method_' || p.id AND p.customer_id = m.customer_id;
