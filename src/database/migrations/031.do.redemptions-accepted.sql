-- A redemption counts when its payment is accepted: an attempt that waits at a bank has given it back, and takes it again before it charges.

ALTER TABLE checkouts
  -- Of the attempt under way or the one that paid; null without a discount.
  ADD COLUMN redemption text,
  ADD CONSTRAINT checkouts_redemption_known CHECK (redemption IN ('taken', 'given_back', 'confirmed'));
UPDATE checkouts SET redemption = 'taken' WHERE discount_id IS NOT NULL AND status IN ('processing', 'paid');

-- The buyer has answered its bank; nothing is charged until that is asked for.
ALTER TABLE sandbox_charges
  DROP CONSTRAINT sandbox_charges_status_known,
  ADD CONSTRAINT sandbox_charges_status_known
    CHECK (status IN ('succeeded', 'pending', 'requires_action', 'requires_confirmation', 'declined', 'canceled')),
  ADD CONSTRAINT sandbox_charges_confirmation_leads CHECK (status <> 'requires_confirmation' OR next_status IS NOT NULL AND next_at IS NULL);
