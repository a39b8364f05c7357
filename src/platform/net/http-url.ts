// A URL from outside, parsed as it will be used.

export const NOT_HTTPS = 'must be an https URL';

/**
 * The URL, or what is wrong with it, wherever it leads. The caller decides whether http is allowed.
 */
export function parseHttpUrl(text: string): URL | string {
  // URL parsers drop line breaks and tabs, and read a backslash as a slash: the text that is
  // checked must be the text that is sent.
  // oxlint-disable-next-line no-control-regex
  if (/[\s\\\u0000-\u001F\u007F]/.test(text)) return 'must not hold spaces or backslashes';
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text)) return NOT_HTTPS;
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  return url;
}
