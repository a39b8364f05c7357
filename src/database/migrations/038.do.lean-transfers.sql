-- Outside a transaction: the table may be large, so its rows are checked while others write. What a start that was killed left is done anew.
-- PostgreSQL reads each CHECK from its text for each statement: all rules of a table that each flush writes are one.
ALTER TABLE transfers
  DROP CONSTRAINT IF EXISTS transfers_within_limit,
  DROP CONSTRAINT IF EXISTS transfers_two_sides,
  DROP CONSTRAINT IF EXISTS transfers_amount_not_negative,
  DROP CONSTRAINT IF EXISTS transfers_resolve_a_hold,
  DROP CONSTRAINT IF EXISTS transfers_usage_is_answered,
  DROP CONSTRAINT IF EXISTS transfers_sound,
  -- null: it is the value.
  ALTER COLUMN amount DROP NOT NULL,
  -- Two sides; an amount that is not negative; a hold where one is resolved, and only there; usage has an answer, and what was
  -- admitted because it fits, fits.
  ADD CONSTRAINT transfers_sound CHECK (debit <> credit AND coalesce(amount, value, -1) >= 0
    AND (kind IN ('post', 'void')) = (hold IS NOT NULL) AND (value IS NULL) = (reason IS NULL)
    AND NOT (guarded AND consumed_after > limit_after)) NOT VALID;
ALTER TABLE transfers VALIDATE CONSTRAINT transfers_sound;
-- Nothing that is in the archive can break them: it comes from the table.
ALTER TABLE transfers_archive
  DROP CONSTRAINT IF EXISTS transfers_within_limit,
  DROP CONSTRAINT IF EXISTS transfers_two_sides,
  DROP CONSTRAINT IF EXISTS transfers_amount_not_negative,
  DROP CONSTRAINT IF EXISTS transfers_resolve_a_hold,
  DROP CONSTRAINT IF EXISTS transfers_usage_is_answered,
  DROP CONSTRAINT IF EXISTS transfers_sound,
  ALTER COLUMN amount DROP NOT NULL,
  ADD CONSTRAINT transfers_sound CHECK (debit <> credit AND coalesce(amount, value, -1) >= 0
    AND (kind IN ('post', 'void')) = (hold IS NOT NULL) AND (value IS NULL) = (reason IS NULL)
    AND NOT (guarded AND consumed_after > limit_after)) NOT VALID;
ALTER TABLE transfers_archive VALIDATE CONSTRAINT transfers_sound;
