const HEADERS = new Headers({ 'content-type': 'application/json;charset=utf-8' });

/** The response of a text that is JSON already: the same as `Response.json` gives for its value. */
export function jsonText(text: string): Response {
  // Headers are copied, from an object of their own faster than from any other.
  return new Response(text, { headers: HEADERS });
}
