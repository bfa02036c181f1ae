import { prefix } from '../../../kernel/prefix.ts';
import { parameter, schema } from '../components/refs.ts';
import { security } from '../components/security.ts';
import { answer, body, object, operation, type Paths, query, text } from './operation.ts';

const credentials = object({ username: text, email: text, password: text }, ['password']);
const signedIn = {
  allOf: [schema('SystemValues'), { ...object({ username: text, sessionToken: text }), additionalProperties: true }],
};
const tag = 'Users and sessions';

/** Reference: users.md. */
export const userPaths: Paths = {
  [`${prefix}/login`]: {
    post: operation(['logIn', tag], 'Log in', {
      security: security.application,
      requestBody: body(credentials),
      responses: { '200': answer('The user, with `sessionToken`.', signedIn) },
    }),
    get: operation(['logInByGet', tag], 'Log in, as Parse clients do', {
      security: security.application,
      parameters: [
        query('username', 'Name or e-mail address.'),
        query('email', 'E-mail address or name.'),
        { ...query('password', 'Password.'), required: true },
      ],
      responses: { '200': answer('The user, with `sessionToken`.', signedIn) },
    }),
  },
  [`${prefix}/logout`]: {
    post: operation(['logOut', tag], 'End the session', {
      security: security.session,
      responses: { '200': answer('Ended.', schema('Nothing')) },
    }),
  },
  [`${prefix}/requestPasswordReset`]: {
    post: operation(['requestPasswordReset', tag], 'Send a link for a new password', {
      security: security.application,
      requestBody: body(object({ email: text }, ['email']), { email: 'nobody@example.com' }),
      responses: { '200': answer('The same for unknown addresses.', object({ message: text })) },
    }),
  },
  [`${prefix}/users/me`]: {
    get: operation(['currentUser', tag], 'The signed-in user', {
      security: security.session,
      responses: { '200': answer('The user, with `sessionToken`.', signedIn) },
    }),
  },
  [`${prefix}/sessions/me`]: {
    get: operation(['currentSession', tag], 'The present session', {
      security: security.session,
      parameters: ['keys', 'excludeKeys', 'include'].map(parameter),
      responses: { '200': answer('The session.', schema('SystemValues')) },
    }),
  },
};
