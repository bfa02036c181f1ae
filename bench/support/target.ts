/** A server under measurement: the service, or a bare peer with the same routes. */
export interface Target {
  name: string;
  url: string;
  headers: Record<string, string>;
}

export interface Prepared {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends one request; throws on any status except 200 and 201, since a refused request measures nothing. */
// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
export async function send(target: Target, { method, path, body }: Prepared): Promise<any> {
  const response = await fetch(`${target.url}${path}`, {
    method,
    headers: body === undefined ? target.headers : { ...target.headers, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target.name}: ${method} ${path} answered ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
