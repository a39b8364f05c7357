// What a page of the dashboard is: a row of the table in pages.ts.
import type { Mode, Tenant } from '../../../ledger/kernel/tenant.ts';
import type { OperationId } from '../../client/operations.ts';
import type { Tollhouse } from '../../client/index.ts';
import type { Brand } from '../../pages/brand.ts';
import type { Html } from '../../pages/html.ts';
import type { Script } from '../../pages/layout.ts';
import type { NoticeName } from '../parts/notices.ts';
import type { Place } from '../parts/place.ts';
import type { RiskyAction } from '../../people/step-up.ts';
import type { SectionName } from '../parts/sections.ts';
import type { Download } from './api.ts';
import type { SignedIn } from './door.ts';

/** One request of a member, in one organisation and mode. */
export type Visit = {
  /** Our own API, as the member: with its role, and in its name. */
  readonly api: Tollhouse;
  /** The same API, for what is sent on as it comes. */
  readonly download: Download;
  readonly tenant: Tenant & { readonly mode: Mode };
  readonly signedIn: SignedIn;
  /** Of the page's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What a POST sent, without the token and the key; empty on GET. */
  readonly form: URLSearchParams;
  /** The bytes that a POST uploaded to a page that takes a file; null for none. */
  readonly file: Uint8Array | null;
  /** The key of the form, for the call that acts: sent twice, it counts once. */
  readonly key: string | undefined;
  /** What the member has refunded in the last hour: a decimal. */
  readonly refundedLately: () => Promise<string>;
  /** For the markup. */
  readonly place: Place;
};

export type FileField = { readonly field: string; readonly bytesMax: number };

/** A page of which a part has the look of a brand, and its script. */
export type Dressed = {
  readonly content: Html;
  readonly preview: Brand;
  readonly script: Script;
};

/** Where to go after an action, below the place's base, and what to say there. */
export type Done = { readonly to: string; readonly notice: NoticeName };

export type DashboardPage = {
  /** Below `/dashboard/{organisation}/{mode}`; '' is the home page. */
  readonly path: string;
  readonly title: string;
  readonly section: SectionName;
  /** What showing it calls: who may not call one of them may not see it (403). */
  readonly needs: readonly OperationId[];
  /**
   * A GET; and after a refused action, with `place.fault` and `place.typed`. A response is sent as
   * it is.
   */
  readonly show: (visit: Visit) => Promise<Html | Dressed | Response>;
  /** A POST to the same path. */
  readonly act?: {
    readonly needs: readonly OperationId[];
    /** What the member may first have to prove again who it is for; null for nothing. */
    readonly risk?: (visit: Visit) => RiskyAction | null | Promise<RiskyAction | null>;
    /** Whether those of one member are done one after the other: each counts what was before it. */
    readonly isInTurn?: true;
    /** It takes a file, in this field of its form. */
    readonly takes?: FileField;
    /** `Html` is shown at once, for what is shown once. */
    readonly run: (visit: Visit) => Promise<Done | Html>;
  };
};

/** A request outside an organisation: of somebody who signs in, or has no organisation yet. */
export type Entry = {
  readonly request: Request;
  /** Where the browser is. */
  readonly address: string;
  /** The `x-request-id` of the answer. */
  readonly requestId: string;
  readonly signedIn: SignedIn | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
};

/** A page for everybody, below `/dashboard`. A form of another site has been refused before. */
export type OpenPage = {
  readonly path: string;
  readonly show: (entry: Entry) => Promise<Response>;
  readonly act?: (entry: Entry) => Promise<Response>;
  /** Whether its POST must carry the session's form token. */
  readonly isForSignedIn?: boolean;
};
