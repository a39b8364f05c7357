-- What an organisation asks of its members.
ALTER TABLE organisations
  -- Without a second factor a member may enrol one, and nothing else.
  ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false,
  -- A refund above it, in live mode, needs a second factor that was given shortly before. In the major unit of any currency.
  ADD COLUMN refund_step_up_amount text NOT NULL DEFAULT '100.00',
  ADD CONSTRAINT organisations_refund_step_up_amount_decimal CHECK (refund_step_up_amount ~ '^[0-9]{1,12}(\.[0-9]{1,4})?$');
