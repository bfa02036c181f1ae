import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { type AgentPermission, isAgentPermission } from '../access/index.ts';
import type { IssuerAddresses } from './addresses.ts';
import { publicKey, type SystemKeys } from './keys.ts';

/** The claim of an access token that names its grant, by the key of its row. */
export const grantClaim = 'grant';

/** The claim that names the password that it was got with: a hash of its mark, since clients can read it. */
export const markClaim = 'mark';

/** What an access token that a system signed says. */
export interface AccessToken {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly AgentPermission[];
  /** The key of its grant. */
  readonly grant: string;
  /** By `keyOf` of the mark of the password; empty in tokens of earlier versions. */
  readonly mark: string;
  /** Whether it is past its time, or good for something else. */
  readonly isOver: boolean;
}

/** Seconds that clocks may differ by. */
const TOLERANCE_S = 15;

/** Reads the access tokens of one system, signed with any of its keys. */
export class TokenReader {
  readonly #keys: ReturnType<typeof createLocalJWKSet>;
  readonly #addresses: IssuerAddresses;

  constructor(keys: SystemKeys, addresses: IssuerAddresses) {
    this.#keys = createLocalJWKSet({ keys: keys.signing.map(publicKey) });
    this.#addresses = addresses;
  }

  /** What a token says; `null` where this system has not signed it. */
  async read(token: string): Promise<AccessToken | null> {
    const { issuer, resource } = this.#addresses;
    const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'], clockTolerance: TOLERANCE_S };
    try {
      const { payload } = await jwtVerify(token, this.#keys, expected);
      return told(payload, false);
    } catch (error) {
      // The signature is looked at before the claims.
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
        return told(error.payload, true);
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

function told(payload: JWTPayload, isOver: boolean): AccessToken {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    userId: text(payload.sub),
    clientId: text(payload.client_id),
    scopes: text(payload.scope).split(' ').filter(isAgentPermission),
    grant: text(payload[grantClaim]),
    mark: text(payload[markClaim]),
    isOver,
  };
}
