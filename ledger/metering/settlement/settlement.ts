import type { Grant } from '../grants.ts';
import type { Source } from './walk.ts';

/** What periods come to, by their facts alone. */
export type Settlement = {
  /** What each account is credited in all, by account. */
  readonly limits: ReadonlyMap<string, bigint>;
  /** What was credited when a span closed, by span. */
  readonly spanLimits: ReadonlyMap<string, bigint>;
  /** What was used before of what goes on, by the account of the period that begins. */
  readonly carried: ReadonlyMap<string, CarriedFrom>;
  /** By grant. Of an allowance, in its period of now. */
  readonly used: ReadonlyMap<string, Used>;
  /** What rolled over since the first period began, by id. */
  readonly rolled: ReadonlyMap<string, Grant>;
  /** Of what is consumed in the last period, what grants cover. */
  readonly settled: bigint;
  /** What is in force at the end, by grant. */
  readonly open: ReadonlyMap<string, Pick<Source, 'used' | 'size' | 'cut'>>;
  /** See `Facts`. */
  readonly isWhole: boolean;
  /** How many moments it went through. */
  readonly work: number;
};

export type Used = Pick<Source, 'used' | 'before' | 'grown' | 'cut'>;

/** At the start of a period: by grant. */
export type CarriedFrom = { readonly start: number; readonly used: ReadonlyMap<string, bigint> };
