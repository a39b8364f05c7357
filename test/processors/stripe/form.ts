// Reads Stripe's form encoding: a[b][c]=x, a[0]=x, a[]=x.

/** A value as sent. A list is a map with numbers for keys. */
export type Raw = string | Map<string, Raw>;

export function readForm(text: string): Map<string, Raw> {
  const root = new Map<string, Raw>();
  for (const [name, value] of new URLSearchParams(text)) put(root, pathOf(name), value);
  return root;
}

function pathOf(name: string): string[] {
  const [first = ''] = name.split('[', 1);
  return [first, ...[...name.matchAll(/\[([^\]]*)\]/g)].map(([, part = '']) => part)];
}

function put(
  into: Map<string, Raw>,
  [first = '', ...rest]: readonly string[],
  value: string,
): void {
  const key = first === '' ? String(into.size) : first;
  if (rest.length === 0) {
    into.set(key, value);
    return;
  }
  const found = into.get(key);
  const inner = found instanceof Map ? found : new Map<string, Raw>();
  into.set(key, inner);
  put(inner, rest, value);
}

/** The same text for the same parameters, in whatever order they come. */
export function canonical(form: Map<string, Raw>): string {
  const sorted = [...form].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    sorted.map(([key, value]) => [key, typeof value === 'string' ? value : canonical(value)]),
  );
}
