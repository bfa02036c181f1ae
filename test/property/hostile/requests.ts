/** Requests to every address, with hostile texts and values in some of their places. */
import fc from 'fast-check';
import { hostileHeader, hostileJson, hostilePart } from './texts.ts';

/** A request as it is sent. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, or a form. */
  readonly body: string | undefined;
  /** The template that it was drawn from. */
  readonly from: string;
}

/** `<name>` in an address is a place with this usual value. */
const PLACES: Readonly<Record<string, string>> = {
  app: 'testapp',
  table: 'Accounts',
  free: 'Hostile',
  id: 'abcdefghij',
  user: 'hostileuser',
  field: 'Name',
  file: `${'0'.repeat(32)}_a.txt`,
  fn: 'getlead',
  echo: 'echo',
  where: '%7B%22Name%22%3A%22a%22%7D',
  pipeline: '%5B%7B%22%24match%22%3A%7B%22Name%22%3A%22a%22%7D%7D%5D',
  number: '2',
  text: 'abc',
  pair: 'limit=1',
};

/** The addresses; the body is JSON, `«…»` in it a place with this usual value. */
const TEMPLATES: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['GET', '/platform/classes/<table>/<id>'],
  ['GET', '/platform/classes/<table>/<id>?include=<field>&keys=<field>'],
  ['PUT', '/platform/classes/<free>/<id>', '{"Name":«"x"»,«"Text"»:"y"}'],
  ['DELETE', '/platform/classes/<table>/<id>'],
  ['POST', '/platform/classes/<free>', '{"Name":«"x"»,«"Text"»:«"y"»,"N":«5»,"ACL":{«"*"»:{"read":true}}}'],
  ['POST', '/platform/classes/<free>', '{"objectId":«"own"»,"P":{"__type":"Pointer","className":«"Accounts"»,"objectId":«"x"»}}'],
  ['POST', '/platform/classes/<free>', '{"D":{"__type":«"Date"»,"iso":«"2024-01-01T00:00:00.000Z"»},"A":[«1»],"O":{«"k"»:«1»}}'],
  [
    'POST',
    '/platform/classes/<free>',
    '{"R":{"__op":«"AddRelation"»,"objects":[{"__type":"Pointer","className":"Accounts","objectId":«"x"»}]}}',
  ],
  ['POST', '/platform/classes/Config', '{"Name":«"AcceptWebToTable"»,"Value":{"AcceptWebToTable":«false»}}'],
  [
    'POST',
    '/platform/classes/_Trigger',
    '{"Name":«"t"»,"table":«"Hostile"»,"events":[«"create"»],"criteria":«{}»,"actions":[{"type":«"notification"»,"actionData":{"user":«"abcdefghij"»,"content":«"x"»}}],"Active":false}',
  ],
  ['GET', '/platform/classes/<table>?where=<where>&limit=<number>&skip=<number>'],
  ['GET', '/platform/classes/<table>?order=<field>&keys=<field>&include=<field>&excludeKeys=<field>&count=<number>&limit=2'],
  ['GET', '/platform/classes/<table>?<pair>&<pair>&limit=1'],
  ['POST', '/platform/classes/<table>', '{"_method":"GET","limit":«1»,"order":«"Name"»,"keys":«"Name"»,"include":«"StatusId"»}'],
  ['POST', '/platform/classes/<table>', '{"_method":"GET","limit":1,"where":{"Name":«"a"»,«"City"»:«"b"»,"objectId":«"x"»}}'],
  [
    'POST',
    '/platform/classes/<table>',
    '{"_method":"GET","limit":1,"where":{"StatusId":{"$inQuery":{"className":«"AccountStatuses"»,"where":{«"Name"»:«1»}}},"$or":[«{}»]}}',
  ],
  [
    'POST',
    '/platform/classes/<table>',
    '{"_method":"GET","limit":1,"where":{"$relatedTo":{"object":{"__type":"Pointer","className":«"_Role"»,"objectId":«"x"»},"key":«"users"»}}}',
  ],
  ['GET', '/platform/classes-aggregate/<table>?pipeline=<pipeline>'],
  ['GET', '/platform/classes-aggregate/<table>?group=<text>&sort=<text>&project=<text>&limit=<number>'],
  [
    'POST',
    '/platform/classes-aggregate/<table>',
    '{"_method":"GET","pipeline":[{"$match":{«"Name"»:«1»}},{"$group":{"_id":«"$City"»,«"n"»:{«"$sum"»:«1»}}},{"$limit":«2»}]}',
  ],
  ['POST', '/platform/batch', '{"requests":[{"method":«"POST"»,"path":«"/platform/classes/Hostile"»,"body":{"Name":«"x"»}}]}'],
  [
    'POST',
    '/platform/batch',
    '{"requests":[{"method":"GET","path":"/platform/classes/Accounts/a%00b"},{"method":"PUT","path":"/platform/classes/Accounts/a%00b","body":{"Name":«1»}},{"method":"DELETE","path":"/platform/classes/Accounts/a%00%ff"}]}',
  ],
  ['GET', '/platform/schemas/<table>?withDictionary=<text>'],
  [
    'POST',
    '/platform/schemas/<table>',
    '{"className":«"Accounts"»,"fields":{«"F"»:{"type":«"String"»,"targetClass":«"Accounts"»}}}',
  ],
  [
    'PUT',
    '/platform/schemas/Hostile',
    '{"fields":{«"G"»:{"type":«"String"»}},"indexes":{«"i"»:{«"Name"»:«1»}},"textIndex":[«"Name"»]}',
  ],
  [
    'PUT',
    '/platform/schemas/Hostile',
    '{"classLevelPermissions":{«"find"»:{«"role:Admin"»:«true»},"protectedFields":{«"*"»:[«"Name"»]}},"timeline":«true»}',
  ],
  ['DELETE', '/platform/schemas/<text>'],
  ['POST', '/platform/users', '{"username":«"hostile user"»,"password":«"weak"»,"email":«"x"»,"phone":«"1"»}'],
  ['PUT', '/platform/users/<id>', '{"name":«"x"»,"mcpPermissions":[«"mcp:view"»]}'],
  ['GET', '/platform/users/<id>'],
  ['DELETE', '/platform/users/<id>'],
  ['GET', '/platform/users?where=<where>&limit=1'],
  ['GET', '/platform/login?username=<text>&password=<text>'],
  ['POST', '/platform/login', '{"username":«"nobody"»,"password":«"Wrong1Pass"»,"email":«"x"»}'],
  ['POST', '/platform/requestPasswordReset', '{"email":«"nobody"»}'],
  ['POST', '/platform/logout', '{"_SessionToken":«"r:0"»,"_InstallationId":«"i"»}'],
  ['GET', '/platform/users/me'],
  ['GET', '/platform/sessions/<id>'],
  ['POST', '/platform/sessions', '{"user":{"__type":"Pointer","className":"_User","objectId":«"x"»}}'],
  ['DELETE', '/platform/sessions/<id>'],
  [
    'POST',
    '/platform/roles',
    '{"name":«"x y"»,"users":{"__op":"AddRelation","objects":[{"__type":"Pointer","className":"_User","objectId":«"x"»}]}}',
  ],
  ['GET', '/platform/roles/<id>'],
  ['POST', '/platform/functions/<fn>', '{"a":«1»}'],
  ['POST', '/platform/files/<text>', 'text'],
  ['DELETE', '/platform/files/<file>'],
  ['GET', '/platform/files/<app>/<file>'],
  ['POST', '/platform/files/<app>/<file>', '{"_ApplicationId":«"testapp"»}'],
  ['GET', '/platform/files/<app>/<file>/<table>/<id>/<field>'],
  ['POST', '/platform/files/<app>/<file>/<table>/<id>/<field>', '{"_MasterKey":«"x"»}'],
  ['POST', '/platform/files/signed-url-put/<text>', '{"ContentType":«"text/plain"»,"ContentLength":«5»}'],
  ['GET', '/static/<app>/<file>'],
  ['POST', '/functions/<app>/<fn>', '{"PhoneNumber":«"0501234567"»,"Name":«"x"»,«"City"»:«"y"»}'],
  [
    'POST',
    '/functions/<app>/web2table',
    '{"table":«"Tasks"»,"phone":«"0501234567"»,«"table_Name"»:«"x"»,"account_Name":«"y"»,"table_AccountId":«"x"»}',
  ],
  ['GET', '/functions/<app>/<fn>?PhoneNumber=<text>&Name=<text>&Name=<text>'],
  ['POST', '/functions/<app>/<echo>', '{"table":«"Accounts"»,"id":«"abcdefghij"»,"where":{«"Name"»:«"x"»}}'],
  ['GET', '/functions/<app>/<echo>?table=Accounts&id=<text>'],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":«1»,"method":"tools/call","params":{"name":"Get-Data","arguments":{"table":«"Accounts"»,"objectId":«"abcdefghij"»}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get-Record","arguments":{"table":«"Accounts"»,"objectId":«"abcdefghij"»,"keys":[«"Name"»],"include":[«"StatusId"»]}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get-Data","arguments":{"table":"Accounts","where":{«"Name"»:«"x"»},"order":«"Name"»,"keys":[«"Name"»]}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Search-Records","arguments":{"query":«"x"»,"tables":[«"Accounts"»]}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Create-Record","arguments":{"table":"Hostile","data":{«"Name"»:«"x"»}}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get-Timeline","arguments":{"table":«"Accounts"»,"objectId":«"abcdefghij"»}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get-Customer-Card","arguments":{"accountId":«"abcdefghij"»,"objectId":«"abcdefghij"»}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":«"Find-Duplicates"»,"arguments":{"table":«"Accounts"»,"phone":«"05"»,"email":«"x"»,"name":«"x"»}}}',
  ],
  [
    'POST',
    '/mcp/<app>',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Aggregate-Data","arguments":{"table":«"Accounts"»,"groupBy":[«"City"»],"metrics":[{"op":«"sum"»,"field":«"N"»}]}}}',
  ],
  ['GET', '/oauth/<app>/authorize?client_id=<text>&redirect_uri=<text>&response_type=code&state=<text>&scope=<text>'],
  [
    'POST',
    '/oauth/<app>/register',
    '{"redirect_uris":[«"https://client.test/back"»],"client_name":«"x"»,"grant_types":[«"authorization_code"»]}',
  ],
  [
    'POST',
    '/oauth/<app>/token',
    'grant_type=authorization_code&code=<text>&client_id=<text>&redirect_uri=<text>&code_verifier=<text>',
  ],
  ['POST', '/oauth/<app>/token', 'grant_type=refresh_token&refresh_token=<text>&client_id=<text>'],
  ['POST', '/oauth/<app>/revoke', 'token=<text>&client_id=<text>'],
  ['GET', '/oauth/<app>/interaction/<text>'],
  ['POST', '/oauth/<app>/interaction/<text>', 'username=<text>&password=<text>'],
  ['GET', '/.well-known/oauth-protected-resource/mcp/<app>'],
  ['GET', '/.well-known/oauth-authorization-server/oauth/<app>'],
  ['GET', '/password-reset/<app>?token=<text>'],
  ['POST', '/password-reset/<app>', 'token=<text>&password=<text>&username=<text>'],
  ['GET', '/<text>/<text>'],
];

/** An invalid `where` is answered with 500. Reference: queries.md#where. */
const takesWhere = ({ from }: RawRequest): boolean => /where/i.test(from) || /<pair>/.test(from);
/** Returns whether a 500 is the documented answer. */
export const mayBe500 = (request: RawRequest): boolean =>
  takesWhere(request) || (/^\/platform\/[^/?]*\/[^/?]*\?/.test(request.path) && /where|text/i.test(decoded(request.path)));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const mark = /<(\w+)>|«([^»]*)»/g;

/** Draws usual and hostile values of a place. */
const fillingOf = (name: string | undefined, usual: string): fc.Arbitrary<string> => {
  if (name === undefined) return fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: asKey(usual) });
  const hostile = name === 'pair' ? fc.tuple(hostilePart, hostilePart).map((pair) => pair.join('=')) : hostilePart;
  const value = PLACES[name] ?? 'x';
  // Most addresses should exist.
  const weight = name === 'app' ? 12 : name === 'table' || name === 'free' || name === 'fn' || name === 'echo' ? 4 : 1;
  return fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 2, arbitrary: hostile });
};

/** Keys of JSON must be strings; whether a place is a key is known only when the body is assembled. */
const asKey = (_usual: string) => hostileJson;

function filled(text: string): fc.Arbitrary<string> {
  const holes = Array.from(text.matchAll(mark));
  if (holes.length === 0) return fc.constant(text);
  const fillings = holes.map(([, name, usual = ''], at) => {
    const end = (holes[at]?.index ?? 0) + (holes[at]?.[0].length ?? 0);
    const isKey = name === undefined && text[end] === ':';
    const filling = fillingOf(name, usual);
    return isKey ? filling.map((json) => (json.startsWith('"') ? json : JSON.stringify(json))) : filling;
  });
  return fc.tuple(...fillings).map((values) => {
    let at = 0;
    return text.replace(mark, () => values[at++] as string);
  });
}

const credentials: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ 'X-Platform-Master-Key': 'test-master-key' }) },
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ 'X-Platform-Session-Token': value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u00ff', ' ', "'", '[object Object]').map((value) => ({ 'X-Platform-API-Key': value })),
  },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ Authorization: value })) },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ Authorization: `Bearer ${value}` })) },
);

const further: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ 'X-Platform-Installation-Id': value })) },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ Referer: value, 'User-Agent': value })) },
  { weight: 1, arbitrary: hostileHeader.map((value) => ({ Cookie: `agent_session=${value}`, 'Accept-Language': value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('bytes=9-1', 'bytes=-', 'x').map((value) => ({ Range: value, 'If-None-Match': value })),
  },
);

const contentType: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'a/b; charset="',
      'x',
      'application/x-www-form-urlencoded',
    ),
  },
);

/** Any request. */
export const hostileRequest: fc.Arbitrary<RawRequest> = fc.constantFrom(...TEMPLATES).chain(([method, path, body]) =>
  fc
    .record({
      path: filled(path),
      body: body === undefined ? fc.constant(undefined) : filled(body),
      credentials,
      further,
      contentType,
      app: fc.oneof({ weight: 20, arbitrary: fc.constant('testapp') }, { weight: 1, arbitrary: hostileHeader }),
    })
    .map((drawn) => {
      const usual = body?.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded';
      return {
        method,
        path: drawn.path,
        body: drawn.body,
        from: `${method} ${path} ${body ?? ''}`,
        headers: {
          'X-Platform-Application-Id': drawn.app,
          ...(drawn.body !== undefined && {
            'Content-Type': drawn.contentType || (path.startsWith('/platform/files/<text>') ? 'text/plain' : usual),
          }),
          ...(path.startsWith('/mcp') && { Accept: 'application/json, text/event-stream' }),
          ...drawn.credentials,
          ...drawn.further,
        },
      };
    }),
);
