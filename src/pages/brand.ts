// What a merchant's pages look like: its colour, its logo, and where its customers turn to.
//
// How it works: the shared styles are made of variables (styles.ts); a brand is a second, small
// stylesheet that sets some of them, for light and for dark.
// Holds: whatever the colour, text has a contrast of 4.5 at least: a button has the colour itself,
// with black or white on it, and links and marks have it darkened, or lightened in the dark, until
// they can be read. CSS is written from numbers: no text of a merchant comes into it. Paper has no
// colours.
import { type Html, html } from './html.ts';
import {
  BLACK,
  contrast,
  EDGE_CONTRAST,
  hex,
  mix,
  parseColor,
  type Rgb,
  TEXT_CONTRAST,
  textOn,
  WHITE,
} from './color.ts';
import { type Stylesheet, styled } from './styles.ts';

/** As the settings have it. */
type Branding = {
  readonly color: string | null;
  readonly logo: { readonly hash: string; readonly width: number; readonly height: number } | null;
  readonly supportEmail: string | null;
  readonly supportUrl: string | null;
};

export type Brand = {
  readonly color: string | null;
  readonly logo: { readonly url: string; readonly width: number; readonly height: number } | null;
  readonly supportEmail: string | null;
  readonly supportUrl: string | null;
};

/** Ours. */
export const NO_BRAND: Brand = { color: null, logo: null, supportEmail: null, supportUrl: null };

export function logoUrl(appUrl: string, hash: string): string {
  return `${appUrl}/logos/${hash}`;
}

export function brandOf({ logo, ...rest }: Branding, appUrl: string): Brand {
  if (logo === null) return { ...rest, logo };
  const { hash, width, height } = logo;
  return { ...rest, logo: { url: logoUrl(appUrl, hash), width, height } };
}

/** What the colours stand on, as the shared styles have it. */
type Ground = {
  /** Of pages, cards, fields and warnings. */
  readonly behind: readonly Rgb[];
  readonly card: Rgb;
  readonly edge: Rgb;
  /** Where to go from a colour that cannot be read. */
  readonly towards: Rgb;
};

function ground(of: {
  behind: readonly string[];
  card: string;
  edge: string;
  towards: Rgb;
}): Ground {
  const read = (text: string) => parseColor(text) ?? BLACK;
  const { behind, card, edge, towards } = of;
  return { behind: behind.map(read), card: read(card), edge: read(edge), towards };
}

export const LIGHT = ground({
  behind: ['#f5f3ee', '#fffefb', '#ffffff', '#fff1cf'],
  card: '#fffefb',
  edge: '#8b847a',
  towards: BLACK,
});
export const DARK = ground({
  behind: ['#131513', '#1c1f1d', '#141715', '#2f2510'],
  card: '#1c1f1d',
  edge: '#7b827d',
  towards: WHITE,
});

/** How much of the colour is in the ground of notices. */
const SOFT_SHARE = 0.1;
/** How much a colour changes under the pointer. */
const OVER_SHARE = 0.14;

export type Palette = {
  /** Of a button, with what is on it, and under the pointer. */
  readonly fill: Rgb;
  readonly fillOver: Rgb;
  readonly onFill: Rgb;
  /** Around it; null where it stands out by itself. */
  readonly fillLine: Rgb | null;
  /** Of links and marks. */
  readonly accent: Rgb;
  readonly accentOver: Rgb;
  readonly soft: Rgb;
};

export function paletteOf(color: Rgb, { behind, card, edge, towards }: Ground): Palette {
  const soft = mix(card, color, SOFT_SHARE);
  const onFill = textOn(color);
  const accent = readable(color, [...behind, soft], towards);
  const isSeen = behind.every((each) => contrast(color, each) >= EDGE_CONTRAST);
  return {
    fill: color,
    // Away from what is on it.
    fillOver: mix(color, onFill === WHITE ? BLACK : WHITE, OVER_SHARE),
    onFill,
    fillLine: isSeen ? null : edge,
    accent,
    accentOver: mix(accent, towards, OVER_SHARE),
    soft,
  };
}

/** The colour itself, or the first on its way that can be read on all of them. */
function readable(color: Rgb, grounds: readonly Rgb[], towards: Rgb): Rgb {
  const STEPS = 50;
  for (let step = 0; step < STEPS; step += 1) {
    const tried = mix(color, towards, step / STEPS);
    if (grounds.every((each) => contrast(tried, each) >= TEXT_CONTRAST)) return tried;
  }
  return towards;
}

function variables(palette: Palette, on: string): string {
  const { fill, fillOver, onFill, fillLine, accent, accentOver, soft } = palette;
  const line = fillLine === null ? 'transparent' : hex(fillLine);
  return (
    `${on}{--fill:${hex(fill)};--fill-over:${hex(fillOver)};--on-fill:${hex(onFill)};--fill-line:${line};` +
    `--accent:${hex(accent)};--accent-over:${hex(accentOver)};--soft:${hex(soft)}}`
  );
}

/**
 * null for our own look. `on`: a selector of ours, for a page of which only a part has the look.
 */
export function brandSheet({ color }: Pick<Brand, 'color'>, on = ':root'): Stylesheet | null {
  const parsed = color === null ? null : parseColor(color);
  if (parsed === null) return null;
  const light = variables(paletteOf(parsed, LIGHT), on);
  const dark = variables(paletteOf(parsed, DARK), on);
  return styled(`@media screen{${light}}@media screen and (prefers-color-scheme:dark){${dark}}`);
}

/** Written out, for mails: what is filled, and what is read on white. null for our own look. */
export function onPaper({ color }: Pick<Brand, 'color'>): { fill: string; text: string } | null {
  const parsed = color === null ? null : parseColor(color);
  if (parsed === null) return null;
  return { fill: hex(parsed), text: hex(readable(parsed, [WHITE], BLACK)) };
}

/** Pixels that a logo has in a mail, at most. */
const PAPER = { width: 200, height: 48 };

/** The logo with the size that it has there. */
export function logoOnPaper({ logo }: Pick<Brand, 'logo'>): Brand['logo'] {
  if (logo === null) return null;
  const share = Math.min(1, PAPER.width / logo.width, PAPER.height / logo.height);
  const fitted = (side: number) => Math.max(1, Math.round(side * share));
  return { url: logo.url, width: fitted(logo.width), height: fitted(logo.height) };
}

/**
 * Of the logo, and of the line with which a page ends. The logo stands on light ground, as most are
 * made for.
 */
export const BRAND_STYLE = `
  .logo { display: block; width: auto; height: auto; max-width: min(100%, 14rem); max-height: 3.25rem; margin-bottom: .75rem; }
  @media screen and (prefers-color-scheme: dark) { .logo { padding: .35rem .5rem; border-radius: .4rem; background: #fff; } }
  .support { margin-bottom: .35rem; }
`;

/** Beside the merchant's name, so it has no words of its own. */
export function brandLogo({ logo }: Pick<Brand, 'logo'>): Html | null {
  if (logo === null) return null;
  const { url, width, height } = logo;
  return html`<img class="logo" src="${url}" width="${width}" height="${height}" alt="" />`;
}

/** Where customers turn to; null where the merchant does not say. */
export function supportLine({ supportEmail, supportUrl }: Brand): Html | null {
  if (supportEmail === null && supportUrl === null) return null;
  return html`<p class="support">
    Questions?
    ${supportEmail === null ? null : html`<a href="${mailTo(supportEmail)}">${supportEmail}</a>`}
    ${supportEmail === null || supportUrl === null ? null : '·'}
    ${supportUrl === null ? null : html`<a href="${supportUrl}">${shownUrl(supportUrl)}</a>`}
  </p>`;
}

function mailTo(email: string): string {
  return `mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`;
}

/** Without what everybody knows. */
function shownUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}
