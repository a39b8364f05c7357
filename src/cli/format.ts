// Numbers, times and bars for people.

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 9 });

export const number = (value: number): string => NUMBER.format(value);

/** `0:07`, `12:30`, `3:05:00`. */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const two = (part: number) => String(part).padStart(2, '0');
  return hours === 0 ? `${minutes}:${two(rest)}` : `${hours}:${two(minutes)}:${two(rest)}`;
}

/** A share of 0 to 1, drawn. More than 1 is drawn as 1. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** `12:34:56` of an ISO time: as the service says it, in UTC. */
export const timeOfDay = (iso: string): string => iso.slice(11, 19);

/** What is left of an allowance: `9,990 of 10,000 left`. */
export function restOf(of: {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly consumed: number;
}): string {
  const { limit, remaining, consumed } = of;
  if (limit === null || remaining === null) return `unlimited, ${number(consumed)} used`;
  return `${number(remaining)} of ${number(limit)} left`;
}

/** What pays for it, where a pool of credits may: `paid by 3 of chat, 1 of credits`. */
export function payersOf(
  paidBy: readonly { readonly featureKey: string; readonly amount: number }[] = [],
): string {
  if (paidBy.length === 0) return '';
  return `  paid by ${paidBy.map((part) => `${number(part.amount)} of ${part.featureKey}`).join(', ')}`;
}
