/** A parsed FILES_URL: a bucket and its abilities. Holds no secret. */
export interface S3Location {
  readonly bucket: string;
  /** Prefix of the keys of files. No slash at the ends; may be empty. */
  readonly prefix: string;
  /** `undefined`: AWS. */
  readonly endpoint: string | undefined;
  /** `undefined`: as the standard AWS variables say. */
  readonly region: string | undefined;
  /** Whether the bucket's name is in the path, not in the host. */
  readonly forcePathStyle: boolean;
  /** Whether the store accepts signed forms from browsers (POST policies). */
  readonly forms: boolean;
}

const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
/** Characters that need no escaping in a key, a path and a form. */
const segmentPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const regionPattern = /^[A-Za-z0-9-]{1,64}$/;
const parameters: ReadonlySet<string> = new Set(['endpoint', 'region', 'forcePathStyle', 'forms']);

/**
 * Parses `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=…&forms=…`.
 * @returns `null` if it is malformed: no bucket, an unknown or repeated parameter, or credentials in it
 */
export function parseS3Url(text: string): S3Location | null {
  const url = URL.parse(text);
  if (url?.protocol !== 's3:' || url.username !== '' || url.password !== '' || url.port !== '' || url.hash !== '') return null;
  const given = url.searchParams;
  const names = [...given.keys()];
  if (names.some((name) => !parameters.has(name)) || new Set(names).size < names.length) return null;
  const segments = url.pathname.replace(/^\/|\/$/g, '').split('/');
  const prefix = segments.join('/');
  const endpoint = given.get('endpoint') ?? undefined;
  const region = given.get('region') ?? undefined;
  const forcePathStyle = flag(given.get('forcePathStyle'), endpoint !== undefined);
  const forms = flag(given.get('forms'), true);
  const isRight =
    bucketPattern.test(url.host) &&
    (prefix === '' || (prefix.length <= 500 && segments.every((segment) => segmentPattern.test(segment)))) &&
    (endpoint === undefined || isEndpoint(endpoint)) &&
    (region === undefined || regionPattern.test(region));
  if (!isRight || forcePathStyle === null || forms === null) return null;
  return { bucket: url.host, prefix, endpoint: endpoint?.replace(/\/+$/, ''), region, forcePathStyle, forms };
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

function flag(text: string | null, otherwise: boolean): boolean | null {
  if (text === null) return otherwise;
  return text === 'true' ? true : text === 'false' ? false : null;
}
