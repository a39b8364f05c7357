import { DAY_MS } from './kernel/durations.ts';
import { assert } from './kernel/assert.ts';

/**
 * Slots that actors hash to, fixed for ever: changing it means rehashing every key. Room for 100
 * nodes at ten slots each.
 */
export const SLOTS = 1024;

/** Slots that move at once: their customers are loaded anew, so few at a time. */
export const HANDOVERS_MAX = 32;

/** Decimal places of a meter, at most. */
export const SCALE_MAX = 9;

/**
 * Scaled quantities stay below this, so that each leaves as at most 15 significant digits, exact in
 * a double (docs/spec/conventions.md#values).
 */
export const QUANTITY_BOUND = 10n ** 15n;

/**
 * Grants that may be live for one customer and meter: bounds an actor's memory and the work of one
 * burn.
 */
export const GRANTS_LIVE_MAX = 1000;

/**
 * What one turn shows of a customer's balances: balances, and grants that it looks at. Measured: a
 * thousand grants take half a millisecond.
 */
export const BALANCES_A_TURN = 200;
export const GRANTS_A_TURN = 5000;

/**
 * Beyond so many grants, the ones that are used up are ended when another comes; a correction
 * cannot refill them any more.
 */
export const GRANTS_KEPT_MAX = 100;

/** Reservations that may be open for one customer and meter, and for how long one may be. */
export const RESERVATIONS_OPEN_MAX = 1000;
export const RESERVATION_MS_MAX = 30 * DAY_MS;
/** Of what does not expire by itself. */
export const NO_EXPIRY = Date.UTC(9999, 11, 31);
/**
 * For how long after its expiry one may be committed. Retention lets go of it later than that, and
 * so never of one that changes.
 */
export const RESERVATION_LATE_MS_MAX = 30 * DAY_MS;

/**
 * Events in one ingest call (docs/spec/contract.md#limits-of-the-contract). They are one atomic
 * unit and so must fit into one flush.
 */
export const INGEST_EVENTS_MAX = 500;

/**
 * Of one call of ingest or one batch of `/track` as it comes: twice the metadata that one may write
 * (`UNIT_BYTES_MAX`), for what is escaped. No other call is larger. To read it is one step, in
 * which nobody else is answered: 4 to 8 ms for each megabyte.
 */
export const INGEST_BYTES_MAX = 2 << 20;

/** Questions in one batch check (docs/spec/usage.md#check), and usages in one batch of `/track`. */
export const CHECK_BATCH_MAX = 500;
export const TRACK_BATCH_MAX = 500;

/** Meters that one event name may feed. Bounds the transfers of an ingest call. */
export const METERS_PER_EVENT_MAX = 10;

/**
 * Prices of one product, archived ones too: a list carries them all. Room for one in each currency
 * of ISO 4217.
 */
export const PRICES_PER_PRODUCT_MAX = 200;

/** Tags of one object, and custom fields of one object. */
export const ANNOTATIONS_PER_OBJECT_MAX = 50;

/** Members of one list of a pool's costs. */
export const CREDIT_COSTS_MAX = 50;

/**
 * Members of all lists that a pool has had: a former one is one for whoever's period began with its
 * list. The decision that ends a period of the pool ends that of each.
 */
export const POOL_MEMBERS_MAX = 200;

/**
 * Alerts of one meter for every customer, and for one customer: a decision looks at all of them.
 */
export const ALERTS_PER_METER_MAX = 20;

/**
 * Alerts that a customer's meter remembers to have fired; beyond it, deleted ones are forgotten.
 */
export const ALERTS_FIRED_MAX = 2 * ALERTS_PER_METER_MAX;

/**
 * Alerts that one unit of many usages may fire: each is an event of some 600 bytes. More are told
 * of after it.
 */
export const ALERT_EVENTS_PER_UNIT_MAX = 500;

/** Decisions on meters of one call at once: together they tell of 2,000 alerts, in one flush. */
export const ALERT_DECISIONS_AT_ONCE = 2000 / ALERTS_FIRED_MAX;

/** Retries of one debt, and the day of the last: dunning ends, and its alarms with it. */
export const DUNNING_RETRIES_MAX = 20;
export const DUNNING_RETRY_DAYS_MAX = 60;

/** Days after which an unpaid subscription is blocked or expires, at most. */
export const DUNNING_DAYS_MAX = 365;

/** Features of one product: one decision grants them all. */
export const ENTITLEMENTS_PER_PRODUCT_MAX = 100;

/**
 * Usage prices of one product, archived ones too, and those in use in one currency: one decision
 * takes them all.
 */
export const USAGE_PRICES_PER_PRODUCT_MAX = 500;
export const USAGE_PRICES_IN_USE_MAX = 100;

/** Tiers of one usage price, and of those in use in one currency: an invoice shows them all. */
export const USAGE_TIERS_MAX = 50;
export const USAGE_TIERS_IN_USE_MAX = 1000;

/**
 * Times that an allowance whose usage is sold is given within one renewal, and those of all such
 * allowances of a product. Each is priced by itself, and a row of the unit that bills it.
 */
export const RESETS_PER_RENEWAL_MAX = 1000;
export const PRODUCT_RESETS_PER_RENEWAL_MAX = 5000;

/** Events may be this late or this early (docs/spec/usage.md#ingest), in milliseconds. */
export const EVENT_LATE_MS_MAX = 35 * DAY_MS;
export const EVENT_EARLY_MS_MAX = 5 * 60_000;

/**
 * Moments that the late changes of one unit are settled over: some 20 ms. What is beyond counts in
 * its own period alone.
 */
export const LATE_WORK_MAX = 2000;

/**
 * Boundaries and ended grants of a meter that a late event is settled by: what is older is as it
 * was.
 */
export const STRETCH_MARKS_MAX = 4000;
export const ENDED_GRANTS_MAX = 1000;

/**
 * Past periods are in memory for as long as a late event may come, and a day, for a clock that
 * steps back.
 */
export const PERIODS_KEPT_MS = EVENT_LATE_MS_MAX + DAY_MS;

/**
 * What is written as a whole, at most: rows, and bytes of metadata as often as they are written.
 * Measured: a flush takes 47 ms for 5000 transfers, and 30 to 60 ms for each megabyte; it may take
 * two thirds of a lease, and others wait for it.
 */
export const UNIT_ROWS_MAX = 2 * INGEST_EVENTS_MAX * METERS_PER_EVENT_MAX;
export const UNIT_BYTES_MAX = 1 << 20;

/**
 * Of one flush, and what one organisation may have of it where others wait. A unit that is larger
 * than that is written all the same, and leaves room for others' beside it. Measured: 1000 rows
 * already give the full rate of PostgreSQL; more only adds latency.
 */
export const FLUSH_ROWS_MAX = 8192;
export const FLUSH_BYTES_MAX = 6 << 20;
export const TENANT_FLUSH_ROWS_MAX = 2048;
export const TENANT_FLUSH_BYTES_MAX = 2 << 20;

/**
 * A larger flush is built in one turn of the event loop and encoded in the next, both after the one
 * in which it was decided. Measured: 5000 transfers take 15 ms, 4 ms and 12 ms. So a whole share of
 * an organisation takes some 7 ms, and in turns of its own it waits for all that others do in them.
 */
export const FLUSH_ROWS_A_TURN = 2048;
export const FLUSH_BYTES_A_TURN = 512 << 10;

/** A larger one is not built in a turn of which half was taken by decisions or by answers. */
export const FLUSH_ROWS_BESIDE_OTHERS = 1000;
export const FLUSH_BYTES_BESIDE_OTHERS = 256 << 10;

/**
 * What the client copies of a flush in the turn in which it was encoded: 2048 transfers are 450
 * KiB.
 */
export const FLUSH_BYTES_SENT_AT_ONCE = 1 << 20;

/**
 * Milliseconds that the decisions of one turn of the event loop may take together: a whole share of
 * an organisation in a flush (2048 usages take some 7), or two changes of a subscription of a
 * customer with 100 features.
 */
export const DECIDING_MS_A_TURN = 10;

/**
 * Rows of the decisions that are answered in one turn, each with 8 more for its answer: what
 * callers do with their answers is in that turn, too. 125 refused reservations, or four batches of
 * 500, take some 10 ms.
 */
export const ANSWERED_ROWS_A_TURN = 2000;

/**
 * Of what waits for a flush in one process: decisions, their rows, and their metadata. One
 * organisation has at most as much as is still free; over it, its calls are refused as overloaded.
 * At 30 thousand a second all of it is one second.
 */
export const QUEUE_UNITS_MAX = 32_768;
export const QUEUE_ROWS_MAX = 131_072;
export const QUEUE_BYTES_MAX = 64 << 20;

/** Meters that a node remembers what it has worked out of: some 400 bytes each. */
export const METERS_KEPT_MAX = 50_000;

/**
 * Accounts of its own, the other sides, of which a node remembers that they are there: some 100
 * bytes each.
 */
export const OWN_ACCOUNTS_KEPT_MAX = 100_000;

/** Calls that may wait for one actor to load. */
export const MAILBOX_MAX = 16_384;

/** Previews of one organisation that may wait, the one under way too. */
export const LONG_WORK_WAITING_MAX = 200;

/**
 * How long one may take with its waiting: well below what a server lets a caller wait in silence.
 */
export const LONG_WORK_MS_MAX = 15_000;

/** One slice of it: what others wait for. */
export const LONG_WORK_SLICE_MS = 3;

/**
 * Next invoices that a node remembers: some 2 KiB each, up to 200 with as many tiers as there may
 * be.
 */
export const UPCOMING_KEPT_MAX = 256;

/** Keys that one load query may ask for. */
export const LOAD_KEYS_MAX = 512;

/** Load queries under way at once: a cold start must not crowd out the journal. */
export const LOADS_CONCURRENT_MAX = 4;

/**
 * Steps that one advance may take (an hourly allowance asleep for a year has 8,760); the rest
 * follows with its alarm.
 */
export const ADVANCE_STEPS_MAX = 10_000;

/**
 * Work on what is due of one meter in one decision, and of all meters in one turn of an answer:
 * steps, each of which looks at all grants. Some 3 ms: 125 steps of a meter with one grant. An
 * event that feeds ten meters does ten times as much. Where more is due it is done first, in as
 * many decisions.
 */
export const DUE_WORK_MAX = 250;

/**
 * The same that an answer does in place, without writing it: whoever asks again does it again.
 * Where more is due it is done first, and once. Some 0.3 ms: 12 hours.
 */
export const ASKED_WORK_MAX = 25;

/**
 * Recently used ids remembered per process, to tell a retry before it spoils a flush. Two
 * generations of this size.
 */
export const RECENT_IDS_MAX = 1 << 19;

assert(2 * TRACK_BATCH_MAX <= UNIT_ROWS_MAX, 'a batch and its events are rows of one unit');
assert(
  2 * UNIT_ROWS_MAX <= QUEUE_ROWS_MAX && 2 * UNIT_BYTES_MAX <= QUEUE_BYTES_MAX,
  'the largest unit of one organisation may wait',
);
assert(
  2 * TENANT_FLUSH_ROWS_MAX <= FLUSH_ROWS_MAX && 2 * TENANT_FLUSH_BYTES_MAX <= FLUSH_BYTES_MAX,
  'beside one organisation there is room for another',
);
assert(QUEUE_ROWS_MAX > FLUSH_ROWS_MAX, 'the queue must hold more than one flush');
