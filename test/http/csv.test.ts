import { expect, test } from 'bun:test';
import { csvRow, csvText } from '../../src/http/csv.ts';

// prettier-ignore
const TEXTS: [string, string][] = [
  ['', ''],
  ['api-calls', 'api-calls'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', `'=1+1`],
  ['+1', `'+1`],
  ['-1', `'-1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  ['\r=1', `"'\r=1"`],
  ['=cmd|"/c calc",A1', `"'=cmd|""/c calc"",A1"`],
  ['{"a":"=1"}', '"{""a"":""=1""}"'],
];

test.each(TEXTS)('the CSV field of %j is %j', (text, value) => {
  expect(csvText(text)).toBe(value);
});

test('a CSV row ends as RFC 4180 says', () => {
  expect(csvRow(['a', '', csvText('b,c')])).toBe('a,,"b,c"\r\n');
});
