// What an image says of itself: its type, its size, whether it moves. PNG, JPEG and WebP.
//
// Holds: the type follows from the bytes alone, never from a name. An image is read to its end by
// the lengths that it gives: what is cut off, or has something else behind it, is none. No pixel is
// decoded.
// Does not: read SVG, which is a document with scripts and addresses in it.

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;

export type ImageHeader = {
  readonly type: (typeof IMAGE_TYPES)[number];
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
};

/** null for anything else. */
export function imageHeader(bytes: Uint8Array): ImageHeader | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return pngHeader(data) ?? jpegHeader(data) ?? webpHeader(data);
  } catch (error) {
    // A length that leads beyond the end.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
/** Of a chunk: its length, its name, its checksum. */
const CHUNK_FRAME = 12;

function pngHeader(data: Buffer): ImageHeader | null {
  if (!data.subarray(0, PNG.length).equals(PNG)) return null;
  let size: Pick<ImageHeader, 'width' | 'height'> | null = null;
  let isAnimated = false;
  for (let at = PNG.length; ;) {
    const length = data.readUInt32BE(at);
    const name = data.toString('latin1', at + 4, at + 8);
    const isFirst = at === PNG.length;
    if (isFirst !== (name === 'IHDR')) return null;
    if (isFirst) size = { width: data.readUInt32BE(at + 8), height: data.readUInt32BE(at + 12) };
    if (name === 'acTL') isAnimated = true;
    at += CHUNK_FRAME + length;
    if (name !== 'IEND') continue;
    return at === data.length && size !== null ? { type: 'image/png', ...size, isAnimated } : null;
  }
}

const JPEG_START = 0xffd8;
const JPEG_END = 0xffd9;
const SCAN = 0xda;
/** Among the marks of frames, those of tables. */
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

/** The segments before the first scan; what follows it is coded pixels. */
function jpegHeader(data: Buffer): ImageHeader | null {
  if (data.length < 4 || data.readUInt16BE(0) !== JPEG_START) return null;
  if (data.readUInt16BE(data.length - 2) !== JPEG_END) return null;
  let size: Pick<ImageHeader, 'width' | 'height'> | null = null;
  for (let at = 2; ;) {
    if (data.readUInt8(at) !== 0xff) return null;
    const mark = data.readUInt8(at + 1);
    // A mark may have any number of 0xFF before it.
    if (mark === 0xff) {
      at += 1;
      continue;
    }
    if (mark === SCAN) {
      return size === null ? null : { type: 'image/jpeg', ...size, isAnimated: false };
    }
    const length = data.readUInt16BE(at + 2);
    if (length < 2) return null;
    if (mark >= 0xc0 && mark <= 0xcf && !NO_FRAMES.has(mark)) {
      size = { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    }
    at += 2 + length;
  }
}

const VP8_START = 0x9d012a;
const VP8L_START = 0x2f;
const ANIMATION = 0x02;

function webpHeader(data: Buffer): ImageHeader | null {
  const isWebp =
    data.toString('latin1', 0, 4) === 'RIFF' && data.toString('latin1', 8, 12) === 'WEBP';
  if (!isWebp || data.readUInt32LE(4) + 8 !== data.length) return null;
  const type = 'image/webp';
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8 ': {
      if (data.readUIntBE(23, 3) !== VP8_START) return null;
      const [width, height] = [data.readUInt16LE(26) & 0x3fff, data.readUInt16LE(28) & 0x3fff];
      return { type, width, height, isAnimated: false };
    }
    case 'VP8L': {
      if (data.readUInt8(20) !== VP8L_START) return null;
      const sizes = data.readUInt32LE(21);
      const [width, height] = [(sizes & 0x3fff) + 1, ((sizes >>> 14) & 0x3fff) + 1];
      return { type, width, height, isAnimated: false };
    }
    case 'VP8X': {
      const [width, height] = [data.readUIntLE(24, 3) + 1, data.readUIntLE(27, 3) + 1];
      return { type, width, height, isAnimated: (data.readUInt8(20) & ANIMATION) !== 0 };
    }
    default:
      return null;
  }
}
