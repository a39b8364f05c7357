// An address that somebody else gave, read as it will be used.

export const NOT_HTTPS = 'must be an https URL';

/**
 * The URL, or what is wrong with it wherever it leads. https or http: which of them may be is the
 * caller's to say.
 */
export function parseHttpUrl(text: string): URL | string {
  // A parser drops line breaks and tabs, and takes a backslash for a slash: what is checked must be what is sent.
  // oxlint-disable-next-line no-control-regex
  if (/[\s\\\u0000-\u001F\u007F]/.test(text)) return 'must not hold spaces or backslashes';
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text)) return NOT_HTTPS;
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  return url;
}
