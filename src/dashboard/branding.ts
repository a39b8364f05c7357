// What customers' pages and mails look like: the colour, the logo, where to ask; and a preview.
import type { Logo, Organization } from '../client/types.ts';
import { brandPreview } from './parts/brand-preview.ts';
import { confirmPage } from './parts/confirm.ts';
import { textField } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { fileField, form } from './parts/forms.ts';
import { button, facts, heading, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { PREVIEW_SCRIPT, SHOWN_COLOR } from './parts/preview-script.ts';
import { code } from './parts/values.ts';
import type { DashboardPage, Dressed, Visit } from './serve/page.ts';
import { orNone, wrongField } from './serve/refusals.ts';
import { type Brand, NO_BRAND } from '../pages/brand.ts';
import { parseColor } from '../pages/color.ts';
import { type Html, html } from '../pages/html.ts';
import { IMAGE_TYPES } from '../platform/image.ts';
import { LOGO_BYTES_MAX, LOGO_SIDE_MAX } from '../records/logos.ts';

const LOGO = { bytes: LOGO_BYTES_MAX, side: LOGO_SIDE_MAX, types: IMAGE_TYPES } as const;

export const BRANDING_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/branding',
    title: 'Branding',
    section: 'settings',
    needs: ['getOrganization', 'getLogo', 'updateOrganization'],
    show: showBranding,
    act: { needs: ['updateOrganization'], run: changeBranding },
  },
  {
    path: '/settings/branding/logo',
    title: 'Logo',
    section: 'settings',
    needs: ['putLogo'],
    show: ({ place }) => Promise.resolve(logoPage(place, LOGO)),
    act: { needs: ['putLogo'], takes: { field: 'data', bytesMax: LOGO_BYTES_MAX }, run: putLogo },
  },
  {
    path: '/settings/branding/logo/remove',
    title: 'Remove logo',
    section: 'settings',
    needs: ['getLogo', 'deleteLogo'],
    show: askRemove,
    act: { needs: ['deleteLogo'], run: removeLogo },
  },
];

async function showBranding({ api, place, query }: Visit): Promise<Dressed> {
  const { branding } = await api.organization.retrieve();
  const logo = await orNone(api.organization.retrieveLogo());
  const { supportEmail, supportUrl } = branding;
  const asked = query.get(SHOWN_COLOR);
  const preview: Brand = {
    ...NO_BRAND,
    color: asked === null ? branding.color : shownColor(asked),
    logo,
    supportEmail,
    supportUrl,
  };
  const content = brandingPage(place, { branding, logo, shown: preview });
  return { content, preview, script: PREVIEW_SCRIPT };
}

const shownColor = (asked: string) => (parseColor(asked) === null ? null : asked);

async function changeBranding(visit: Visit) {
  await visit.api.organization.update(read(visit, BRANDING));
  return { to: '/settings/branding', notice: 'changed' } as const;
}

async function putLogo({ api, file }: Visit) {
  if (file === null) throw wrongField('data', 'is required: choose a file');
  await api.organization.putLogo({ data: Buffer.from(file).toString('base64') });
  return { to: '/settings/branding', notice: 'changed' } as const;
}

async function askRemove({ api, place }: Visit) {
  await api.organization.retrieveLogo();
  return confirmPage(place, {
    title: 'Remove logo',
    text: 'Pages and new mails show only your name.',
    submit: 'Remove',
    back: '/settings/branding',
  });
}

async function removeLogo({ api }: Visit) {
  await api.organization.deleteLogo();
  return { to: '/settings/branding', notice: 'removed' } as const;
}

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

const BRANDING = {
  branding: {
    color: textField({
      label: 'Colour',
      hint: 'For example #0e5c4a. Text on it is kept readable. Leave empty for the default.',
      isClearable: true,
    }),
    supportEmail: textField({ label: 'Support e-mail', type: 'email', isClearable: true }),
    supportUrl: textField({
      label: 'Support page',
      type: 'url',
      maxlength: 2048,
      hint: 'An https URL.',
      isClearable: true,
    }),
  },
};

type BrandingView = {
  readonly branding: Organization['branding'];
  readonly logo: Logo | null;
  /** What the preview shows. */
  readonly shown: Brand;
};

function brandingPage(place: Place, { branding, logo, shown }: BrandingView): Html {
  return html`${heading('Branding', { under: 'On the checkout, the portal, invoices and mails.' })}
  ${drawForm(place, BRANDING, { to: '/settings/branding', submit: 'Save', values: { branding } })}
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
type LogoBounds = {
  readonly bytes: number;
  readonly side: number;
  readonly types: readonly string[];
};

function logoPage(place: Place, { bytes, side, types }: LogoBounds): Html {
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
