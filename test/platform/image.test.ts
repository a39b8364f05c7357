import { describe, expect, test } from 'bun:test';
import { imageHeader } from '../../src/platform/image.ts';
import { ANIMATED_PNG, jpeg, png, webp } from '../support/images.ts';

const SIZE = { width: 120, height: 40 };
const still = (type: string, size = SIZE) => ({ type, ...size, isAnimated: false });

// prettier-ignore
const IMAGES: [string, Buffer, object][] = [
  ['PNG',             png(120, 40),                            still('image/png')],
  ['a PNG that moves', ANIMATED_PNG,                           { type: 'image/png', width: 8, height: 8, isAnimated: true }],
  ['JPEG',            jpeg(120, 40),                           still('image/jpeg')],
  ['lossy WebP',      webp('VP8 ', SIZE),                      still('image/webp')],
  ['lossless WebP',   webp('VP8L', SIZE),                      still('image/webp')],
  ['large lossless',  webp('VP8L', { width: 16_384, height: 16_384 }), still('image/webp', { width: 16_384, height: 16_384 })],
  ['WebP with more',  webp('VP8X', SIZE),                      still('image/webp')],
  ['WebP that moves', webp('VP8X', { ...SIZE, flags: 2 }),     { ...still('image/webp'), isAnimated: true }],
];

test.each(IMAGES)('the header of an image is read: %s', (_what, bytes, header) => {
  expect(imageHeader(bytes) as object).toEqual(header);
  // As a part of something larger.
  const within = Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(3)]);
  expect(imageHeader(within.subarray(3, -3)) as object).toEqual(header);
});

describe.each(IMAGES)('an image of %s', (_what, bytes) => {
  test('cut off anywhere is refused', () => {
    for (let end = 0; end < bytes.length; end += 1) {
      expect([end, imageHeader(bytes.subarray(0, end))]).toEqual([end, null]);
    }
  });

  test('with bytes behind it is refused', () => {
    expect(imageHeader(Buffer.concat([bytes, Buffer.from('<script>')]))).toBeNull();
  });

  test('with any byte of its beginning changed is read or refused, and never hangs or throws', () => {
    for (let at = 0; at < Math.min(bytes.length, 64); at += 1) {
      for (const to of [0x00, 0x01, 0x7f, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = to;
        imageHeader(changed);
      }
    }
  });
});

// prettier-ignore
const NONE: [string, string | Buffer][] = [
  ['nothing',                  ''],
  ['text',                     'hello'],
  ['SVG',                      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['GIF',                      Buffer.from('4749463839610100010000000000003b', 'hex')],
  ['HTML behind the PNG mark', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('<script>alert(1)</script>')])],
  ['a PNG without a head',     Buffer.concat([png(4, 4).subarray(0, 8), png(4, 4).subarray(33)])],
  ['a JPEG without a frame',   Buffer.from('ffd8ffda0008010100003f00ffd9', 'hex')],
  ['a JPEG of fill bytes',     Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(500, 0xff), Buffer.from('ffd9', 'hex')])],
  ['a WebP of another kind',   Buffer.from(webp('VP8 ', SIZE).toString('latin1').replace('VP8 ', 'VP9 '), 'latin1')],
];

test.each(NONE)('%s is no image', (_what, bytes) => {
  expect(imageHeader(Buffer.from(bytes as string))).toBeNull();
});
