"""The properties of a whole service: one CORS rule, whose age tells which version it is."""

import xml.etree.ElementTree

from owner import Owner, expect

QUERY = {"restype": "service", "comp": "properties"}


class ServiceProperties(Owner):
    async def step(self, connection, random):
        age = self.next_version()
        body = ("<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods>"
                f"<AllowedHeaders></AllowedHeaders><ExposedHeaders></ExposedHeaders><MaxAgeInSeconds>{age}</MaxAgeInSeconds>"
                "</CorsRule></Cors></StorageServiceProperties>")
        await self.change(connection, age, 202, "PUT", "/", QUERY, body=body.encode())

    async def observe(self, connection):
        reply = await expect(connection, 200, "GET", "/", QUERY)
        return xml.etree.ElementTree.fromstring(reply.body).findtext("Cors/CorsRule/MaxAgeInSeconds")
