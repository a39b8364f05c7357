// Values of the ledger as JSON. JSON has no bigint, so that one is `{"$": "123"}`.

/** How a `T` is written. */
export type JsonOf<T> = T extends bigint
  ? { readonly $: string }
  : T extends object
    ? { readonly [Name in keyof T]: JsonOf<T[Name]> }
    : T;

export function toJson<T>(value: T): JsonOf<T> {
  return JSON.parse(jsonText(value)) as JsonOf<T>;
}

/** The same as text. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? { $: String(field) } : field,
  );
}

/** The value of which `toJson` made `json`. */
export function fromJson<T>(json: JsonOf<T>): T {
  return decode(json) as T;
}

function decode(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(decode);
  if (typeof json !== 'object' || json === null) return json;
  if ('$' in json) return BigInt(String(json.$));
  return Object.fromEntries(Object.entries(json).map(([key, field]) => [key, decode(field)]));
}
