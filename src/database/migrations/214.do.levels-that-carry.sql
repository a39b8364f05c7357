-- Of a `last` meter: whether each period begins with the level of the one before. A constant default is no rewrite.
ALTER TABLE meters ADD COLUMN carry boolean NOT NULL DEFAULT false;
ALTER TABLE meters ADD CONSTRAINT meters_carry_a_level CHECK (NOT carry OR aggregation = 'last');
