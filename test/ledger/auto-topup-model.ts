// What an automatic top-up does, said again in another way: it keeps every capture, and names
// windows by their local dates.
import type { TopUpRefusal, TopUpSettings } from '../../ledger/topups/auto-topup.ts';

const HOUR = 3_600_000;

export class TopUpModel {
  readonly #zone: string;
  settings: TopUpSettings | null = null;
  level = 0n;
  /** The number of charges that began, and what the one under way gives. */
  charges = 0;
  underWay: bigint | null = null;
  captures: number[] = [];
  stopped: TopUpRefusal | null = null;
  #declines = 0;
  #notBefore: number | null = null;
  #isLimited = false;
  #hasNewMethod = false;

  constructor(zone: string) {
    this.#zone = zone;
  }

  get status(): string | null {
    if (this.settings === null) return null;
    if (this.underWay !== null) return 'charging';
    if (this.stopped !== null || this.#isLimited) return 'suspended';
    return this.#notBefore !== null && this.settings.enabled ? 'charging' : 'armed';
  }

  put(settings: TopUpSettings): void {
    const isOther = JSON.stringify(this.settings, texts) !== JSON.stringify(settings, texts);
    if (isOther) this.#isLimited = false;
    this.settings = settings;
  }

  remove(): void {
    this.settings = null;
    this.stopped = null;
    this.#forget();
    this.#isLimited = false;
    this.#hasNewMethod = false;
  }

  storeMethod(): void {
    if (this.settings === null) return;
    if (this.underWay !== null) {
      this.#hasNewMethod = true;
      return;
    }
    this.stopped = null;
    this.#forget();
  }

  /** The charge under way has another method. */
  takeMethod(): void {
    if (this.settings !== null && this.underWay !== null) this.#declines = 0;
  }

  capture(now: number): void {
    this.level += this.underWay ?? 0n;
    this.captures.push(now);
    this.#end();
    this.#forget();
  }

  refuse(now: number, why: TopUpRefusal, passes: boolean): void {
    const isAnew = this.#hasNewMethod || this.settings === null;
    this.#end();
    if (isAnew) return this.#forget();
    const hours = passes ? [1, 6, 24][this.#declines] : undefined;
    if (hours === undefined) {
      this.#forget();
      this.stopped = why;
    } else {
      this.#declines += 1;
      this.#notBefore = now + hours * HOUR;
    }
  }

  /** After each thing that happened. */
  look(now: number): void {
    const { settings } = this;
    if (settings?.enabled !== true || this.underWay !== null || this.stopped !== null) return;
    if (this.#notBefore !== null && now < this.#notBefore) return;
    if (this.level >= settings.threshold) {
      if (this.#notBefore !== null || this.#isLimited) this.#forget();
      this.#isLimited = false;
      return;
    }
    this.#notBefore = null;
    const { limit } = settings;
    const isSameWindow = (at: number) =>
      this.#windowOf(at, limit?.interval) === this.#windowOf(now, limit?.interval);
    this.#isLimited = limit !== null && this.captures.filter(isSameWindow).length >= limit.count;
    if (this.#isLimited) return;
    this.charges += 1;
    this.underWay = settings.amount;
  }

  #end(): void {
    this.underWay = null;
    this.#hasNewMethod = false;
  }

  #forget(): void {
    this.#declines = 0;
    this.#notBefore = null;
  }

  /** A name for the window that `at` is in. */
  #windowOf(at: number, interval: 'day' | 'week' | 'month' | undefined): string {
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: this.#zone, dateStyle: 'short' });
    const date = format.format(at);
    if (interval === 'month') return date.slice(0, 7);
    if (interval !== 'week') return date;
    const days = Math.floor(Date.parse(`${date}T00:00:00Z`) / (24 * HOUR));
    // The first of January 1970 was a Thursday.
    return String(Math.floor((days + 3) / 7));
  }
}

const texts = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);
