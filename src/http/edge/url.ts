/** Where it goes. Without a Host header, as some health checks come over HTTP/1.0, what the server gives is a path alone. */
export function urlOf(request: Request): URL {
  return new URL(request.url, 'http://localhost');
}
