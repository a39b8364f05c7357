// CSV (RFC 4180), safe to open in a spreadsheet.

/** A spreadsheet takes text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** The values are numbers, times and ids of our own. Text of others goes through `csvText`. */
export function csvRow(values: readonly string[]): string {
  return `${values.join(',')}\r\n`;
}

/** Text as a value: quoted where it has to be, and with an apostrophe before what is no formula. */
export function csvText(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
