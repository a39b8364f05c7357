// What the pages and mails for customers look like: the colour, the logo, where to ask; and how
// that looks.
import type { Logo, Organization } from '../../client/types.ts';
import type { Brand } from '../../pages/brand.ts';
import { type Html, html } from '../../pages/html.ts';
import { brandPreview } from '../parts/brand-preview.ts';
import { field, fileField, form } from '../parts/forms.ts';
import { button, facts, heading, section } from '../parts/parts.ts';
import { code } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

export function brandingSection({ branding }: Organization, actions: readonly Html[]): Html {
  const { color, logoUrl, supportEmail, supportUrl } = branding;
  return section(
    'Branding',
    facts([
      ['Colour', color === null ? null : code(color)],
      ['Logo', logoUrl],
      ['Support e-mail', supportEmail],
      ['Support page', supportUrl],
    ]),
    actions,
  );
}

export type BrandingView = {
  readonly branding: Organization['branding'];
  readonly logo: Logo | null;
  /** What the preview shows. */
  readonly shown: Brand;
};

export function brandingPage(place: Place, { branding, logo, shown }: BrandingView): Html {
  return html`${heading('Branding', { under: 'On the checkout, the portal, invoices and mails.' })}
  ${form(place, {
    to: '/settings/branding',
    submit: 'Save',
    fields: [
      field(place, {
        name: 'branding.color',
        label: 'Colour',
        value: branding.color ?? '',
        hint: 'For example #0e5c4a. Text on it is kept readable. Leave empty for the default.',
      }),
      field(place, {
        name: 'branding.support_email',
        label: 'Support e-mail',
        type: 'email',
        value: branding.supportEmail ?? '',
      }),
      field(place, {
        name: 'branding.support_url',
        label: 'Support page',
        type: 'url',
        maxlength: 2048,
        value: branding.supportUrl ?? '',
        hint: 'An https URL.',
      }),
    ],
  })}
  ${logoSection(place, logo)} ${section('Preview', brandPreview(place, shown))}`;
}

function logoSection(place: Place, logo: Logo | null): Html {
  const actions = [
    button(place, '/settings/branding/logo', logo === null ? 'Upload a logo' : 'Replace logo'),
    logo === null ? null : button(place, '/settings/branding/logo/remove', 'Remove logo'),
  ];
  return section('Logo', logo === null ? NO_LOGO : logoFacts(logo), actions);
}

const NO_LOGO = html`<p class="empty">No logo. Pages show only your name.</p>`;

function logoFacts({ url, type, width, height }: Logo): Html {
  return facts([
    ['Address', url],
    ['Image', `${type.replace('image/', '').toUpperCase()}, ${width} × ${height} pixels`],
  ]);
}

/** Of what the API takes. */
export type LogoBounds = {
  readonly bytes: number;
  readonly side: number;
  readonly types: readonly string[];
};

export function logoPage(place: Place, { bytes, side, types }: LogoBounds): Html {
  const under = 'It replaces the current logo. Everyone can see it.';
  return html`${heading('Logo', { under })}
  ${form(place, {
    to: '/settings/branding/logo',
    submit: 'Upload',
    takesFile: true,
    fields: [
      fileField(place, {
        name: 'data',
        label: 'Image',
        accept: types,
        hint: `PNG, JPEG or WebP without animation, at most ${bytes / 1024} KiB and ${side} pixels a side.`,
      }),
    ],
  })}`;
}
