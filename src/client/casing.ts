// Names of fields: camelCase here, snake_case on the wire. They are looked up, not computed,
// because this runs on each item of a batch.

/** More names than the API has. Names beyond it, such as misspelt ones, are computed each time. */
const NAMES_MAX = 1_000;

export const toSnake = remembered((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

export const toCamel = remembered((name) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
);

function remembered(compute: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let other = known.get(name);
    if (other === undefined) {
      other = compute(name);
      if (known.size < NAMES_MAX) known.set(name, other);
    }
    return other;
  };
}
