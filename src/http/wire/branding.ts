import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { REDIRECT_URL_LENGTH_MAX, redirectUrlIssue } from '../../payments/urls.ts';
import { logoUrl } from '../../pages/brand.ts';
import { IMAGE_TYPES, imageHeader } from '../../platform/image.ts';
import {
  hashOf,
  type Logo as LogoRecord,
  LOGO_BYTES_MAX,
  LOGO_SIDE_MAX,
} from '../../records/logos.ts';
import type {
  Branding as BrandingRecord,
  LogoName,
  OrganisationPatch,
} from '../../records/organisations.ts';
import type { Issue } from '../edge/errors.ts';
import { Body, Email, Nullable, oneOf } from './values.ts';

const Color = Type.String({
  pattern: '^#[\\dA-Fa-f]{6}$',
  error: 'must be a colour like #0e5c4a',
});

const SupportUrl = Type.String({ minLength: 1, maxLength: REDIRECT_URL_LENGTH_MAX });

const described = <T extends TSchema>(schema: T, description: string) => ({
  ...Nullable(schema),
  description,
});

const FIELDS = {
  color: described(
    Color,
    'The colour of buttons, links and marks: `#rrggbb`. Text on it is kept readable, in light ' +
      'and dark mode.',
  ),
  support_email: described(
    Email,
    'The address for questions of customers and for replies to mails.',
  ),
  support_url: described(SupportUrl, 'An https URL for questions of customers.'),
};

export const BrandingChange = Type.Partial(Body(FIELDS));

export const Branding = Type.Object({
  ...FIELDS,
  logo_url: described(Type.String(), 'Public. Another image has another URL.'),
});

/** Characters that so many bytes take. */
const base64Length = (bytes: number) => Math.ceil(bytes / 3) * 4;

export const LogoPut = Body(
  {
    data: Type.String({
      minLength: 1,
      maxLength: base64Length(LOGO_BYTES_MAX),
      description: `A still PNG, JPEG or WebP in base64: at most ${LOGO_BYTES_MAX} bytes and ${LOGO_SIDE_MAX} pixels a side.`,
      error: `must be base64 of at most ${LOGO_BYTES_MAX} bytes`,
    }),
  },
  {
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
);

export const Logo = Type.Object({
  url: Type.String({ description: 'The same as `branding.logo_url` of the organization.' }),
  type: oneOf(IMAGE_TYPES),
  width: Type.Integer({ description: 'Pixels.' }),
  height: Type.Integer({ description: 'Pixels.' }),
});

/** Why something is no logo. */
type LogoFault = 'not_base64' | 'too_large' | 'no_image' | 'animated' | 'too_many_pixels';

const FAULTS: Readonly<Record<LogoFault, string>> = {
  not_base64: 'must be base64',
  too_large: `must have at most ${LOGO_BYTES_MAX} bytes`,
  no_image: 'must be a whole PNG, JPEG or WebP',
  animated: 'must stand still',
  too_many_pixels: `must have 1 to ${LOGO_SIDE_MAX} pixels a side`,
};

export function toLogo({
  data,
}: Static<typeof LogoPut>): LogoRecord | { readonly issues: readonly Issue[] } {
  const logo = readLogo(data);
  return typeof logo === 'string' ? { issues: [{ path: ['data'], message: FAULTS[logo] }] } : logo;
}

function readLogo(data: string): LogoRecord | LogoFault {
  const bytes = Buffer.from(data, 'base64');
  // The decoder leaves out what is no base64.
  if (bytes.toString('base64') !== data) return 'not_base64';
  if (bytes.length > LOGO_BYTES_MAX) return 'too_large';
  const header = imageHeader(bytes);
  if (header === null) return 'no_image';
  if (header.isAnimated) return 'animated';
  const { type, width, height } = header;
  const fits = (side: number) => side >= 1 && side <= LOGO_SIDE_MAX;
  if (!fits(width) || !fits(height)) return 'too_many_pixels';
  return { hash: hashOf(bytes), type, width, height, bytes };
}

export function toBrandingPatch({
  color,
  support_email: supportEmail,
  support_url: supportUrl,
}: Static<typeof BrandingChange>):
  | NonNullable<OrganisationPatch['branding']>
  | { readonly issues: readonly Issue[] } {
  const issue =
    typeof supportUrl === 'string' ? redirectUrlIssue(supportUrl, { loopback: false }) : null;
  if (issue !== null) return { issues: [{ path: ['branding', 'support_url'], message: issue }] };
  return { color: color?.toLowerCase() ?? color, supportEmail, supportUrl };
}

export function fromBranding(
  { color, logo, supportEmail, supportUrl }: BrandingRecord,
  appUrl: string,
): Static<typeof Branding> {
  return {
    color,
    logo_url: logo === null ? null : logoUrl(appUrl, logo.hash),
    support_email: supportEmail,
    support_url: supportUrl,
  };
}

export function fromLogo(logo: LogoName, appUrl: string): Static<typeof Logo> {
  const { hash, type, width, height } = logo;
  return { url: logoUrl(appUrl, hash), type, width, height };
}
