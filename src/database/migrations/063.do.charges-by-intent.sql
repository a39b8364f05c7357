-- Stripe's news of a dispute names the intent, and none of our keys.
CREATE INDEX stripe_charges_of_intent ON stripe_charges (intent) WHERE intent IS NOT NULL;
