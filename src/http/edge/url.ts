/**
 * The URL of the request. Without a Host header (HTTP/1.0 health checks), the server gives a path
 * only.
 */
export function urlOf(request: Request): URL {
  return new URL(request.url, 'http://localhost');
}
