// Values of options that more than one command takes.
import { UsageError } from './command.ts';

const QUANTITY = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** As text, because a double may not hold it. */
export function quantityOf<T extends string | undefined>(option: string, text: T): T {
  if (text === undefined || QUANTITY.test(text)) return text;
  throw new UsageError(`${option} must be a number such as 5 or 0.25`);
}

export function countOf(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new UsageError(`${option} must be 1 to ${max}`);
}

export function listOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(',').map((part) => part.trim());
}

export function httpUrlOf(option: string, text: string, example: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(`${option} must be an address such as ${example}`);
}
