// A letter as plain text and as HTML, from the same parts. Text that somebody typed stands on one
// line (`oneLine`); in HTML it is escaped.
import { type Brand, logoOnPaper, NO_BRAND, onPaper } from '../pages/brand.ts';
import { type Html, html } from '../pages/html.ts';

export type Letter = { readonly subject: string; readonly text: string; readonly html: string };

export type Parts = {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** What and how much. */
  readonly rows: readonly (readonly [string, string])[];
};

/** On one line, and in the order in which it is read. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '')
    .trim();
}

type Link = { readonly label: string; readonly href: string };

export type Frame = {
  readonly links: readonly Link[];
  readonly footer: readonly string[];
  /** Stands before everything. */
  readonly note: string | null;
  /** Ours where it is left out. */
  readonly brand?: Brand;
  /** Whose mail it is: in place of a logo that is not loaded. */
  readonly sender?: string;
};

/** Its text, as plain text and as HTML. */
export function rendered(parts: Parts, frame: Frame): Pick<Letter, 'text' | 'html'> {
  return { text: asText(parts, frame), html: asHtml(parts, frame).text };
}

function asText({ heading, paragraphs, rows }: Parts, { links, footer, note }: Frame): string {
  const blocks = [
    ...(note === null ? [] : [note]),
    heading,
    ...paragraphs,
    rows.map(([what, amount]) => `${what}: ${amount}`).join('\n'),
    ...links.map(({ label, href }) => `${label}: ${href}`),
    `-- \n${footer.join('\n')}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

const FONT = "font-family: -apple-system, 'Segoe UI', Roboto, sans-serif; line-height: 1.5;";

function asHtml({ subject, heading, paragraphs, rows }: Parts, frame: Frame): Html {
  const { links, footer, note, brand = NO_BRAND, sender = '' } = frame;
  const look = onPaper(brand);
  const stripe = look && html`; padding-top: 16px; border-top: 4px solid ${look.fill}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${subject}</title>
      </head>
      <body style="margin: 0; padding: 24px; ${FONT}">
        <div style="max-width: 560px; margin: 0 auto${stripe}">
          ${logo(brand, sender)} ${note === null ? null : html`<p><strong>${note}</strong></p>`}
          <h1 style="font-size: 22px">${heading}</h1>
          ${paragraphs.map((text) => html`<p dir="auto">${text}</p>`)}
          ${rows.length === 0 ? null : table(rows)}
          ${links.map((link) => html`<p>${anchor(link, look?.text)}</p>`)}
          <hr style="border: 0; border-top: 1px solid #ccc" />
          <p style="font-size: 13px; color: #555" dir="auto">
            ${footer.map((line, index) => (index === 0 ? line : html`<br />${line}`))}
          </p>
        </div>
      </body>
    </html>`;
}

function anchor({ href, label }: Link, color: string | undefined): Html {
  if (color === undefined) return html`<a href="${href}">${label}</a>`;
  return html`<a href="${href}" style="color: ${color}">${label}</a>`;
}

/** Its size stands on it: some programs know no other. */
function logo(brand: Brand, sender: string): Html | null {
  const shown = logoOnPaper(brand);
  if (shown === null) return null;
  const { url, width, height } = shown;
  return html`<p>
    <img src="${url}" width="${width}" height="${height}" alt="${sender}" style="border: 0" />
  </p>`;
}

function table(rows: Parts['rows']): Html {
  return html`<table style="width: 100%; border-collapse: collapse">
    ${rows.map(
      ([what, amount]) =>
        html`<tr>
          <td style="padding: 6px 0" dir="auto">${what}</td>
          <td style="padding: 6px 0; text-align: right; white-space: nowrap">${amount}</td>
        </tr>`,
    )}
  </table>`;
}
