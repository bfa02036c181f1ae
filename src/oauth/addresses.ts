/** Returns the path of a system's sign-in pages and endpoints, below `{base_url}`. Reference: sign-in.md#issuer-and-metadata. */
export const mountOf = (appId: string): string => `/oauth/${appId}`;

/** The endpoints of an issuer, relative to its URL. */
export const endpoints = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  jwks: '/jwks',
} as const;

/** Public URLs of a system's issuer. */
export interface IssuerAddresses {
  /** `{base_url}/oauth/{app_id}`: the issuer's identifier and the prefix of its endpoints. */
  readonly issuer: string;
  /** The path of `issuer`, to which its cookies are limited. */
  readonly path: string;
  /** `{base_url}/mcp/{app_id}`: the audience of its access tokens (RFC 8707). */
  readonly resource: string;
  readonly isHttps: boolean;
}

/** @param base the service's public URL, without a trailing slash */
export function addressesOf(base: string, appId: string): IssuerAddresses {
  const issuer = `${base}${mountOf(appId)}`;
  const { pathname, protocol } = new URL(issuer);
  return { issuer, path: pathname, resource: `${base}/mcp/${appId}`, isHttps: protocol === 'https:' };
}
