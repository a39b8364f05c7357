-- Pools: meters of credits that pay for the use of other meters. Each list of costs that a pool has had; the last is in force.
CREATE TABLE credit_cost_lists (
  pool_id uuid NOT NULL REFERENCES meters,
  number integer NOT NULL,
  -- By the organisation's clock: a customer's period of the pool that begins then or later counts by it. The first one of a pool that
  -- was made as one is there for ever.
  since timestamptz NOT NULL,
  PRIMARY KEY (pool_id, number),
  CONSTRAINT credit_cost_lists_numbered CHECK (number >= 1)
);
CREATE TABLE credit_costs (
  pool_id uuid NOT NULL,
  number integer NOT NULL,
  position smallint NOT NULL,
  meter_id uuid NOT NULL REFERENCES meters,
  -- Credits, scaled like the pool's, for one scaled unit of the member.
  rate bigint NOT NULL,
  PRIMARY KEY (pool_id, number, meter_id),
  FOREIGN KEY (pool_id, number) REFERENCES credit_cost_lists,
  CONSTRAINT credit_costs_rate_above_zero CHECK (rate > 0),
  CONSTRAINT credit_costs_of_another_meter CHECK (meter_id <> pool_id)
);
CREATE INDEX credit_costs_of_member ON credit_costs (meter_id);
