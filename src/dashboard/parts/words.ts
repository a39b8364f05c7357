// Values of the API for people.

/** `past_due` is "past due". */
export const words = (value: string): string => value.replaceAll('_', ' ');

/** `all` is offered first, as the empty value. */
export function optionsOf(values: readonly string[], all?: string) {
  const options = values.map((value) => ({ value, label: words(value) }));
  return all === undefined ? options : [{ value: '', label: all }, ...options];
}
