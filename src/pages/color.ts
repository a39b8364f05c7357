// Colours as numbers, and what is readable on what (WCAG 2.2, relative luminance and contrast).

/** Of 0 to 255 each. */
export type Rgb = readonly [red: number, green: number, blue: number];

export const BLACK: Rgb = [0, 0, 0];
export const WHITE: Rgb = [255, 255, 255];

/** What text needs beside its ground, at least. */
export const TEXT_CONTRAST = 4.5;
/** What the edge of a field or a button needs beside what is around it. */
export const EDGE_CONTRAST = 3;

/** null for anything but `#rrggbb`. */
export function parseColor(text: string): Rgb | null {
  const match = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text);
  if (match === null) return null;
  const [, red = '', green = '', blue = ''] = match;
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

export function hex(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** `share` of `b`, of 0 to 1, in `a`. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (at: 0 | 1 | 2) => Math.round(a[at] + (b[at] - a[at]) * share);
  return [part(0), part(1), part(2)];
}

function luminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** The one of black and white that is read better on it: 4.58 at worst. */
export function textOn(ground: Rgb): Rgb {
  return contrast(WHITE, ground) >= contrast(BLACK, ground) ? WHITE : BLACK;
}
