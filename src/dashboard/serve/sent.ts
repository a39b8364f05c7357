// What a POST of the dashboard sends: the fields of a form, and a file where its page takes one.
//
// Holds: nothing is kept beyond a bound, and a file is read for a page that takes one only. What a
// browser says of the name and the type of a file is not looked at.
// Why what is too large is let pass: a browser whose connection is closed while it still sends
// shows an error of its own, and no answer.
import { FORM_BYTES_MAX, FORM_MEDIA, piecesOf, takeBody } from '../../http/edge/body.ts';
import type { FileField } from './page.ts';

export type Sent = {
  readonly form: URLSearchParams;
  /** null for none. Nothing is taken of a form with a file that is too large. */
  readonly file: Uint8Array | 'too_large' | null;
};

const FILE_TYPE = /^multipart\/form-data *(?:;|$)/i;
/** Bytes that are let pass; beyond them the connection ends. */
const LET_PASS_MAX = 16 * 1024 * 1024;

const NOTHING: Sent = { form: new URLSearchParams(), file: null };
const TOO_LARGE: Sent = { ...NOTHING, file: 'too_large' };

/** The refusal where it cannot be read. `takes`: null where the page takes no file. */
export async function takeSent(
  request: Request,
  takes: FileField | null,
): Promise<Sent | Response | 'broken'> {
  if (request.method !== 'POST') return NOTHING;
  if (takes !== null && FILE_TYPE.test(request.headers.get('content-type') ?? '')) {
    return takeFile(request, takes);
  }
  const text = await takeBody(request, FORM_BYTES_MAX, [FORM_MEDIA]);
  if (text instanceof Response) return text;
  return text.includes('%00') ? 'broken' : { form: new URLSearchParams(text), file: null };
}

async function takeFile(
  request: Request,
  { field, bytesMax }: FileField,
): Promise<Sent | 'broken'> {
  const bytes = await readAtMost(request, bytesMax + FORM_BYTES_MAX);
  if (bytes === null) return TOO_LARGE;
  const parts = await partsOf(bytes, request.headers.get('content-type') ?? '');
  if (parts === null) return 'broken';
  const form = new URLSearchParams();
  let file: Uint8Array | null = null;
  for (const [name, part] of parts) {
    if (typeof part === 'string') {
      if (part.includes('\0')) return 'broken';
      form.append(name, part);
    } else if (name === field && part.size > 0) {
      if (part.size > bytesMax) return TOO_LARGE;
      file = await part.bytes();
    }
  }
  return { form, file };
}

/** null where there is more. */
async function readAtMost(request: Request, bytesMax: number): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length')) > LET_PASS_MAX) return null;
  let kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of piecesOf(request)) {
    bytes += piece.byteLength;
    if (bytes <= bytesMax) kept.push(piece);
    else kept = [];
    if (bytes > LET_PASS_MAX) break;
  }
  return bytes > bytesMax ? null : Buffer.concat(kept);
}

/** null where it is no such form. */
async function partsOf(
  bytes: Uint8Array,
  type: string,
): Promise<(readonly [string, string | Blob])[] | null> {
  try {
    const body = new Response(bytes, { headers: { 'content-type': type } });
    // oxlint-disable-next-line typescript/no-deprecated -- its bytes are bounded by now
    return [...(await body.formData())];
  } catch {
    return null;
  }
}
