/** Where a system's pages and endpoints of sign-in are, below `{base_url}` (CONTRACT "Addresses"). */
export const mountOf = (appId: string): string => `/oauth/${appId}`;

/** The endpoints of an issuer, below its own address. */
export const endpoints = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  jwks: '/jwks',
} as const;

/** The addresses of a system's issuer, as clients see them. */
export interface IssuerAddresses {
  /** `{base_url}/oauth/{app_id}`: its name, and what its endpoints are below. */
  readonly issuer: string;
  /** The path of `issuer`, where its cookies are good. */
  readonly path: string;
  /** `{base_url}/mcp/{app_id}`: what its tokens are good for (RFC 8707). */
  readonly resource: string;
  readonly isHttps: boolean;
}

/** @param base the service's address, without a slash at its end */
export function addressesOf(base: string, appId: string): IssuerAddresses {
  const issuer = `${base}${mountOf(appId)}`;
  const { pathname, protocol } = new URL(issuer);
  return { issuer, path: pathname, resource: `${base}/mcp/${appId}`, isHttps: protocol === 'https:' };
}
