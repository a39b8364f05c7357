// Images to upload: a real PNG, and the beginnings and ends of others, as far as a header is read.
import { crc32, deflateSync } from 'node:zlib';

function chunk(name: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** Of one colour; `extra` goes before the pixels. */
export function png(
  width: number,
  height: number,
  {
    color = [91, 42, 134],
    extra = [],
  }: { color?: readonly number[]; extra?: readonly Buffer[] } = {},
): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.from([
    0,
    ...Array.from({ length: Math.min(width, 2000) }, () => color).flat(),
  ]);
  const rows = Buffer.concat(Array.from({ length: Math.min(height, 2000) }, () => row));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...extra,
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Its first frame moves on. */
export const ANIMATED_PNG = png(8, 8, { extra: [chunk('acTL', Buffer.alloc(8, 1))] });

/** As many bytes, in a chunk that no reader knows. */
export function pngOfBytes(bytes: number): Buffer {
  const least = png(4, 4).length + 12;
  return png(4, 4, { extra: [chunk('teSt', Buffer.alloc(bytes - least))] });
}

export function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from('ffc0000b08000000000101110000', 'hex').subarray(0, 13);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const tables = Buffer.from('ffc40004aabb', 'hex');
  return Buffer.concat([
    Buffer.from('ffd8ffe000044a46', 'hex'),
    tables,
    Buffer.from('ff', 'hex'),
    frame,
    Buffer.from('ffda0008010100003f00aabbffd9', 'hex'),
  ]);
}

/** Lossy, lossless, or with more in it than one image. */
export function webp(
  kind: 'VP8 ' | 'VP8L' | 'VP8X',
  { width, height, flags = 0 }: { width: number; height: number; flags?: number },
): Buffer {
  const body = Buffer.alloc(16);
  if (kind === 'VP8 ') {
    body.writeUIntBE(0x9d012a, 3, 3);
    body.writeUInt16LE(width, 6);
    body.writeUInt16LE(height, 8);
  } else if (kind === 'VP8L') {
    body.writeUInt8(0x2f, 0);
    body.writeUInt32LE(((height - 1) << 14) | (width - 1), 1);
  } else {
    body.writeUInt8(flags, 0);
    body.writeUIntLE(width - 1, 4, 3);
    body.writeUIntLE(height - 1, 7, 3);
  }
  const head = Buffer.from(`RIFF0000WEBP${kind}0000`, 'latin1');
  head.writeUInt32LE(12 + body.length, 4);
  head.writeUInt32LE(body.length, 16);
  return Buffer.concat([head, body]);
}
