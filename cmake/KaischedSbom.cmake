# What is inside the binaries, as SPDX 2.3: kaisched.spdx.json beside the licence. The time is that of SOURCE_DATE_EPOCH
# where it is set, so that packages can be made again byte for byte.

# kaisched_sbom(<file> PACKAGE <name> <version> <SPDX licence> <where it comes from> ...)
function(kaisched_sbom file)
  string(TIMESTAMP now "%Y-%m-%dT%H:%M:%SZ" UTC)
  set(document [=[{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "packages": [], "relationships": []}]=])
  set(name "kaisched-${PROJECT_VERSION}")
  string(JSON document SET "${document}" name "\"${name}\"")
  string(JSON document SET "${document}" documentNamespace "\"https://spdx.org/spdxdocs/${name}\"")
  string(JSON document SET "${document}" creationInfo "{\"created\": \"${now}\", \"creators\": [\"Tool: kaisched-cmake\"]}")
  set(at 0)
  set(left ${ARGN})
  while(left)
    list(POP_FRONT left keyword package version licence origin)
    if(NOT keyword STREQUAL "PACKAGE" OR origin STREQUAL "" OR version STREQUAL "")
      message(FATAL_ERROR "kaisched_sbom: a package has a name, a version, a licence and an origin: ${package} ${version}")
    endif()
    string(JSON document SET "${document}" packages ${at} "{
      \"SPDXID\": \"SPDXRef-${package}\", \"name\": \"${package}\", \"versionInfo\": \"${version}\",
      \"downloadLocation\": \"${origin}\", \"filesAnalyzed\": false, \"licenseConcluded\": \"${licence}\",
      \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"}")
    set(from "SPDXRef-kaisched")
    set(to "SPDXRef-${package}")
    set(kind "DEPENDS_ON")
    if(at EQUAL 0)
      set(from "SPDXRef-DOCUMENT")
      set(kind "DESCRIBES")
    endif()
    string(JSON document SET "${document}" relationships ${at}
      "{\"spdxElementId\": \"${from}\", \"relationshipType\": \"${kind}\", \"relatedSpdxElement\": \"${to}\"}")
    math(EXPR at "${at} + 1")
  endwhile()
  file(WRITE "${file}" "${document}\n")
endfunction()
