import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { type AgentPermission, isAgentPermission } from '../access/index.ts';
import type { IssuerAddresses } from './addresses.ts';
import { publicKey, type SystemKeys } from './keys.ts';

/** The claim with the key of the token's grant. */
export const grantClaim = 'grant';

/** The claim that identifies the password with which the token was obtained: a hash of its mark, because clients can read claims. */
export const markClaim = 'mark';

/** Contents of an access token that the system signed. */
export interface AccessToken {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly AgentPermission[];
  /** Key of its grant. */
  readonly grant: string;
  /** `keyOf` of the password's mark; empty in tokens of earlier versions. */
  readonly mark: string;
  /** Whether it is expired or has another audience. */
  readonly isExpired: boolean;
}

/** Tolerated clock difference. */
const TOLERANCE_S = 15;

/** Verifies the access tokens of one system, signed with any of its keys. */
export class TokenReader {
  readonly #keys: ReturnType<typeof createLocalJWKSet>;
  readonly #addresses: IssuerAddresses;

  constructor(keys: SystemKeys, addresses: IssuerAddresses) {
    this.#keys = createLocalJWKSet({ keys: keys.signing.map(publicKey) });
    this.#addresses = addresses;
  }

  /** Verifies a token; `null` if this system has not signed it. */
  async read(token: string): Promise<AccessToken | null> {
    const { issuer, resource } = this.#addresses;
    const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'], clockTolerance: TOLERANCE_S };
    try {
      const { payload } = await jwtVerify(token, this.#keys, expected);
      return claimsOf(payload, false);
    } catch (error) {
      // The library verifies the signature before the claims.
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
        return claimsOf(error.payload, true);
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

function claimsOf(payload: JWTPayload, isExpired: boolean): AccessToken {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    userId: text(payload.sub),
    clientId: text(payload.client_id),
    scopes: text(payload.scope).split(' ').filter(isAgentPermission),
    grant: text(payload[grantClaim]),
    mark: text(payload[markClaim]),
    isExpired,
  };
}
