-- The other sides only ever grow, and all customers of a meter or payments in a currency add to one: bigint is enough for an actor's
-- account, and not for theirs. A total that overflowed would refuse flushes for everybody.
ALTER TABLE accounts
  ALTER COLUMN debits_posted TYPE numeric,
  ALTER COLUMN debits_pending TYPE numeric,
  ALTER COLUMN credits_posted TYPE numeric,
  ALTER COLUMN credits_pending TYPE numeric;
